package formats

// FieldNames are the columns that are read.
func FieldNames() (names []string) {
	for _, f := range fdataFields {
		names = append(names, f.Name)
	}
	return names
}
