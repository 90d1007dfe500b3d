// Package report writes what simulations left in a folder as one page of HTML:
// summary, settings, warnings, and an interactive Gantt chart. The page holds all
// that it shows, and loads nothing.
//
//	folder, err := results.Open("results")
//	err = report.WriteFile("results/report.html", folder)
//
// The way of the data:
//
//	*.csv -> results.Folder -> chart (a run: rows, jobs, pieces, levels)
//	                             -> columns of integers -> gzip -> base64 -> the page
//	                                                                 page/data.js -> page/gantt.js
//
// Texts of a trace (names of policies, nodes, users' reasons) are escaped by
// html/template and encoding/json here, and become text, never HTML, in page.js. A policy
// of content security lets the browser run the page's own script only, and load
// nothing from anywhere.
//
// The same folder gives the same bytes.
package report
