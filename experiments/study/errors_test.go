package study

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "the file is empty: say at least which policies, as in policies: [fcfs, easy]",
		"[easy]":                            "the file",
		"policies: [easy":                   "line 1, column 11: this is no YAML",
		"policies: [easy]\npolicies: [x]":   `line 2, column 1: the key "policies" is there twice`,
		"policys: [easy]":                   `line 1, column 1: there is no key "policys": did you mean "policy"?; a name of the study's own stands in other values as {policys}`,
		"policies: []":                      "line 1, column 11: policies: the list is empty",
		"policies:":                         "line 1, column 1: policies: it is empty",
		"policies: {easy: 1}":               "line 1, column 11: policies: want a text or a number, not settings",
		"title: \"\"":                       "line 1, column 8: title: want a text or a number, not \"\"",
		"policies: [~]":                     "line 1, column 12: policies: want a text or a number, not nothing",
		"policies: [[easy]]":                "line 1, column 12: policies: want a text or a number, not a list",
		"policies: [easy, fcfs, easy]":      `line 1, column 24: policies: "easy" is there twice`,
		"policies: [easy, eazy]":            `line 1, column 18: policy:`,
		"policies: [\"easy,fcfs\"]":         "line 1, column 12: policy: a case has one policy, not 2: write a list",
		"policies: [\"easy:depth=x\"]":      `line 1, column 12: policy:`,
		"policies: [css]":                   "line 1, column 12: policy: css needs --domain: it plans named nodes",
		"policies: easy\npolicy: fcfs":      "line 2, column 1: policy: there are values for policy already",
		"load: [0.9, -1]":                   `line 1, column 13: load: want a number above 0, at most 1000, not "-1"`,
		"estimates: [user, perfect]":        "line 1, column 19: estimates:",
		"traces: [missing.swf]":             "line 1, column 10: trace: opening ",
		"traces: [\"lublin:jobs=x\"]":       "line 1, column 10: trace:",
		"traces: [\"-\"]":                   "line 1, column 10: trace: standard input can be read once only: name a file",
		"outages: [\"exponential:mtbf=x\"]": "line 1, column 11: outages:",
		"victims: [kill, kiss]\noutages: [\"exponential:mtbf=1d:repair=1h\"]": "line 1, column 17: victims:",
		"power: [\"idle=x\"]":            "line 1, column 9: power:",
		"moldable: [amdal]":              "line 1, column 12: moldable:",
		"traces: [/dev/null]":            "line 1, column 10: trace: opening /dev/null: it is no regular file",
		"traces: [.]":                    "line 1, column 10: trace: ",
		"load: [0.9, 0.7, 0.90]":         `line 1, column 18: load: 0.90 is the same as 0.9 before it`,
		"outages: [missing.csv]":         "line 1, column 11: outages: opening ",
		"domains: [missing.yaml]":        "line 1, column 11: opening the domain ",
		"domains: [a]\ngrids: [b]":       "line 2, column 1: grids: domains are given, too, and a case has one machine: list scenario files, which can be of any kind",
		"seeds: [1, 2, 1]":               "line 1, column 15: seeds: 1 is there twice",
		"seeds: [1, x]":                  `line 1, column 12: seeds: want a whole number of 0 or more, not "x"`,
		"seeds: [-1]":                    `line 1, column 9: seeds: want a whole number of 0 or more, not -1`,
		"seeds: [1]\nreplications: 2":    "line 2, column 1: replications: seeds are given, too: give one of them",
		"replications: 2\nseeds: [1]":    "line 2, column 1: seeds: replications are given, too: give one of them",
		"replications: 0":                `line 1, column 15: replications: want a whole number of 1 or more, not 0`,
		"seed: 1\nseeds: [2]":            "line 2, column 1: seeds: seeds are given twice",
		"policies: [\"easy:depth={k}\"]": "line 1, column 12: policy: there are no values for {k}",
		"policies: [\"easy:depth={k}\"]\nk: [\"{j}\"]\nj: [1]": "line 2, column 5: k: values of a name of the study's own cannot use another one, {j}",
		"policies: [\"easy:depth={k}\"]\nk: [1, x]":            `(policy=easy:depth=x)`,
		"policies: [\"easy:depth={jobs}\"]\njobs: [1, 2]":      `line 2, column 1: results have a column "jobs" already: choose another name`,
		"policies: [\"easy:depth={index}\"]\nindex: [1, 2]":    `line 2, column 1: results have a column "index" already: choose another name`,
		"policies: [easy]\n---\npolicies: [fcfs]":              "line 2, column 1: a second document begins here (---): want one",
		"k!: [1]":                            `"k!" is no key, and no name either`,
		"zip: {load: [0.7, 0.9]}":            "line 1, column 6: zip: want two lists or more",
		"zip: {load: [0.7, 0.9], procs: 4}":  "line 1, column 25: zip: procs has 1 values, and load before it 2: lists side by side are equally long",
		"zip: {laod: [1, 2], procs: [4, 8]}": `line 1, column 7: there is no key "laod": did you mean "load"?`,
		"load: 1\nsample: {size: 2, of: {\n  lod: [1, 2], procs: [4, 8]}}": `line 3, column 3: there is no key "lod": did you mean "load"?`,
		"zip: {load: [1], seeds: [1]}":                                     "line 1, column 18: zip: seeds are crossed with everything: they cannot stand here",
		"zip: {load: [1], limit: [1]}":                                     `line 1, column 18: zip: "limit" is no parameter`,
		"load: [0.7]\nzip: {load: [1], procs: [4]}":                        "line 2, column 1: zip: there are values for load already",
		"sample: {size: 3}":                                                "sample: the key of is missing",
		"sample: {of: {load: [1, 2]}}":                                     "sample: the key size is missing",
		"sample: {size: 3, of: {load: {from: 1}}}":                         "load: want a range, {from: 1, to: 10}: the key to is missing",
		"sample: {size: 3, of: {load: {from: 2, to: 1}}}":                  "load: want a range from a lower number to a higher one, not 2 to 1",
		"sample: {size: 3, of: {load: {from: 2, to: 1, step: 1}}}":         `line 1, column 47: load: there is no key "step": there are from, to, scale, whole`,
		"sample: {size: 3, of: {load: {from: 0, to: 1, scale: log}}}":      "load: on a logarithmic scale a range begins above 0, not at 0",
		"sample: {size: 3, of: {load: {from: 1, to: 2, scale: lag}}}":      `line 1, column 54: scale: want linear or log, not "lag"`,
		"sample: {size: 3, of: {load: [1, 2]}}":                            "line 1, column 9: sample: a sample of 3 points of load: its values do not give so many different ones: ask for fewer",
		"sample: {size: 3, method: sobol, of: {load: [1, 2]}}":             `line 1, column 27: method: want latin-hypercube or random, not "sobol"`,
		"policies: [easy, fcfs]\nexcept: [{polcy: easy}]":                  `line 2, column 11: except: there is no parameter "polcy": did you mean "policy"?`,
		"policies: [easy, fcfs]\nexcept: [{policy: sjf}]":                  "line 2, column 10: except: there is no case with these values",
		"policies: [easy, fcfs]\nexcept: [{policy: [easy, fcfs]}]":         "line 2, column 1: except: no case is left",
		"policies: [easy]\nonly: {policy: easy, policies: easy}":           "line 2, column 22: only: there are values for policy already",
		"policies: [easy]\nonly: 3":                                        "line 2, column 7: only: want values by the names of parameters",
		"keep: [jobs, queues]":                                             `line 1, column 14: keep: there are no files of the kind "queues": did you mean "queue"?`,
		"limit: {time: 10x}":                                               `line 1, column 15: time: want a time of 0 or more, in seconds or as in 15m, 4h, 30d, not "10x"`,
		"limit: {memory: lots}":                                            `line 1, column 17: memory: want a size`,
		"limit: {tries: 0}":                                                "line 1, column 16: tries: want a whole number of 1 or more",
		"limit: {tiem: 1s}":                                                `line 1, column 9: limit: there is no key "tiem": did you mean "time"?`,
		"limit: 3":                                                         `line 1, column 8: limit: want settings, {KEY: VALUE}, not 3`,
		"policies: [easy]\nbaseline: fcfs":                                 `line 2, column 11: baseline: no case has the policy "fcfs"`,
		"compare: load":                                                    `line 1, column 10: compare: there is no parameter "load"`,
		"measures: [mean_weight]":                                          `line 1, column 12: measures: there is no column "mean_weight"`,
		"feedback: [true]\ndomains: [d.yaml]":                              "line 1, column 12: feedback:",
		"policies: [&a easy, *b]":                                          "line 1",
	} {
		f, err := study(t, text, "d.yaml", "generate: {count: 3, performance: [1, 2]}\ncycle: 600\nbatches: {cycles: 1, jobs: 2}\n")
		if err == nil {
			_, err = f.Study("test")
		}
		require.ErrorContains(t, err, want, "%q", text)
		require.ErrorContains(t, err, "reading the study study.yaml: ", "%q", text)
	}
}
