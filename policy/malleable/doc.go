// Package malleable has policies that grow and shrink jobs while they run; see
// entity.Metascheduler.Resize and entity.Job.Shapes.
package malleable
