package fdata

// FieldNames are the columns that are read.
func FieldNames() (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}
