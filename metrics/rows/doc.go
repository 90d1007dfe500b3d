// Package rows says what is in the files of a simulation. Each kind of file is a value: it
// has a name, says what a row is, and lists its columns. A column has a name, a type, a unit
// and a sentence that explains it, knows when it is there, and puts its field of a row into
// text and takes it from text again. Writers, readers and the reference page
// (docs/reference/files.md) are made from these values, so that a column is stated once.
//
//	column[T] --> File[T] --+--> Writer[T]   rows become text (metrics, experiments/simulation)
//	                        |
//	                        +--> Read        text becomes rows (metrics/results, validate)
//	                        |
//	                        +--> Schema      what programs and pages ask about a file
//
// # Write a file
//
//	w := rows.NewWriter(out, rows.Queue)
//	w.Write(&rows.Level{Time: 3 * des.Second, Jobs: 1, Processors: 8})
//	err := w.Flush()
//
// # Read a file
//
//	attempts, err := rows.Read("attempts-easy.csv", text, rows.Attempts)
//
// A reader finds columns by their names. It passes over a column that the table does not
// have, and a column that a file does not have is missing in every row.
//
// # Ask what a column means
//
//	schema, ok := rows.SchemaOf("jobs-easy.csv")
//	for _, c := range schema.Columns {
//		fmt.Println(c.Name, c.Type, c.Unit, c.Text)
//	}
//
// # What is missing
//
// A field is empty if there is no such value, for example the start of a rejected job. In a
// row such a time is None, such a number is NaN, and such a number of a job, a user, a group
// or a queue is -1.
package rows
