// Package workflow reads workflows: tasks that wait for each other's data.
//
//	w, err := workflow.Open("montage.json")
//	jobs := w.Jobs(0)                                  // of an engine that moves no data
//	links, err := flow.Survey(slices.Values(jobs), false)
//
// The format is WfFormat, the JSON of WfCommons (Coleman, Casanova, Pottier, Kaushik,
// Deelman, Ferreira da Silva, "WfCommons: a framework for enabling scientific workflow
// research and development", FGCS 128, 2022), versions 1.4 to 1.6.
//
// Each task becomes a job (Workflow.Jobs): it waits for its parents, and must be
// rejected where one of them fails. What is in a file but not in a Task (commands,
// energy, machines) is passed over.
package workflow
