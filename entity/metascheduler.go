package entity

// Metascheduler is being written.
type Metascheduler struct{}
