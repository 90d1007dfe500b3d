// Package figure draws what a simulation did, for print and for the screen.
//
//	results.Open(dir) -> Draw(folder, "wait-by-size") -> Figure -> Save("wait.pdf")
//	                            |
//	rows of a program's own -> WaitBySize(runs), Distributions(runs), ...
//
// All draws the figures that a folder has data for, Draw one of them by its name
// (Names). Each is also a function of rows of package results, for programs that
// have these from elsewhere, or want some of them only. A Figure is panels of
// gonum/plot, which may be changed before it is saved as SVG, PDF or PNG.
//
// Figures are as wide as a column of print (85 mm) with labels of 8 points. The
// colours are those of Okabe and Ito ("Color Universal Design", 2008), which
// people see apart who do not see all colours; lines differ in their dashes and
// markers as well. The same rows give the same SVG, to the byte.
//
// Where there are more changes than a line can show, a column of the picture has
// the least, the greatest and the mean value of its time: nothing is left out by
// sampling.
package figure
