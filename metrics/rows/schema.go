package rows

// Schema says what is in one kind of file.
type Schema struct {
	// Name is that of the file, with POLICY in place of the name of the policy.
	Name string
	// Text says in one sentence what a row is.
	Text string
	// Columns stand in the order of the file.
	Columns []Meaning
}

// Schema is what people and programs can ask about the file.
func (f File[T]) Schema() Schema {
	s := Schema{Name: f.Name, Text: f.Text}
	for _, c := range f.Columns {
		s.Columns = append(s.Columns, c.Meaning)
	}
	return s
}
