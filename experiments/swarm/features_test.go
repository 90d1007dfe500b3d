package swarm

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// features is the table of all that a world may have, in the order in which it is added. See
// feature for the columns.
var features = slices.Concat(programFeatures(), siteFeatures(), []feature{
	// The workload.
	{name: "model", of: cluster | gridOf | studyOf, odds: 4, add: func(r rnd, w *world) {
		n := len(w.jobs)
		w.procs = max(w.procs, 4)
		w.source = fmt.Sprintf([]string{
			"lublin:jobs=%d:procs=%d:load=0.9", "lublin:jobs=%d:procs=%d:load=1.3:typed=on", "downey:jobs=%d:procs=%d:load=0.8", "downey:jobs=%d:procs=%d:mean-gap=20m:sigma=1",
			"feitelson:jobs=%d:procs=%d:load=0.7:time-unit=10m", "poisson:jobs=%d:procs=%d:mean-gap=30:size=1..4:runtime=lognormal/2m/1", "poisson:jobs=%d:procs=%d:load=1.1:size=1..3:runtime=exponential/60:flurries=every=5:jobs=4:gap=1:spread=0.1",
			"sessions:jobs=%d:procs=%d:mean-gap=100:size=1..4:runtime=exponential/60:users=3",
		}[r.IntN(8)], n, w.procs)
		if strings.Contains(w.source, "flurries=") {
			w.source = strings.Replace(w.source, "flurries=", "flurries='", 1) + "'"
		}
		for _, s := range w.sites {
			s["processors"] = strconv.Itoa(w.procs)
		}
	}},
	{name: "of-a-log", of: cluster | gridOf, odds: 3, not: "model feedback", add: func(r rnd, w *world) {
		w.source = r.one("jann:from=log.swf:jobs="+strconv.Itoa(len(w.jobs)), "resample:from=log.swf:no-wait=on:break=gap:limit=20:long-term=1:weeks=1", "feedback:from=log.swf:no-wait=on:break=gap:limit=20")
		if strings.HasPrefix(w.source, "resample") { // users are moved by whole weeks
			for i, j := range w.jobs {
				j.submit += i * 30 * 86400 / len(w.jobs)
			}
		}
	}},
	{name: "job-file", of: cluster | domain | gridOf, odds: 12, not: "model of-a-log feedback", add: func(r rnd, w *world) {
		w.source = "file"
		delete(w.yaml, "trace")
		if w.kind == cluster {
			w.set("procs", strconv.Itoa(w.procs))
		}
	}},
	{name: "batches", of: domain, odds: 20, not: "job-file feedback part shift late load where estimates missing overlong no-time fractions gaps", add: func(r rnd, w *world) {
		w.source = "batches"
		w.yaml["batches"] = fmt.Sprintf("{cycles: %d, jobs: %d, users: %d, nodes: [1, %d], volume: [%s], real: [%s], wealth: [%s]}", r.among(1, 3), max(1, min(len(w.jobs), r.among(1, 8))), r.among(1, 3), min(w.procs, 3), r.one("20, 100", "100, 500"), r.one("1, 1", "0.2, 1"), r.one("1, 1.6", "2, 5"))
	}},
	{name: "gaps", of: cluster | domain | gridOf | siteLog, odds: 3, add: func(r rnd, w *world) {
		from := r.among(1, 1000000)
		w.each("gaps", func(r rnd, j *job) { j.id = from + 3*j.id })
	}},
	{name: "arrays", of: cluster | domain | gridOf, odds: 6, needs: "job-file", add: func(r rnd, w *world) {
		w.columns = append(w.columns, "array")
		w.each("arrays", func(r rnd, j *job) {
			j.id *= 10
			if r.chance(30) {
				j.more["array"] = r.number(1, 5)
			}
		})
	}},
	{name: "dependencies", of: cluster | domain | gridOf, odds: 8, needs: "job-file", add: func(r rnd, w *world) {
		w.columns = append(w.columns, "after")
		w.each("dependencies", func(r rnd, j *job) {
			at := slices.Index(w.jobs, j)
			if at == 0 || r.chance(50) {
				return
			}
			j.more["after"] = fmt.Sprint(w.jobs[r.IntN(at)].id) + r.one("", "", ":ok", ":ok+7", "+5", ":submitted", ":submitted+9")
			if at > 1 && r.chance(30) {
				from := r.IntN(at - 1)
				j.more["after"] += fmt.Sprintf(" %d-%d", w.jobs[from].id, w.jobs[at-1].id) + r.one("", ":ok")
				if w.has("arrays") || w.has("gaps") {
					j.more["after"] = fmt.Sprintf("%d %d", w.jobs[from].id, w.jobs[at-1].id)
				}
			}
		})
	}},
	{name: "demands", of: domain, odds: 25, needs: "job-file", add: func(r rnd, w *world) {
		w.columns = append(w.columns, "min_performance", "max_price", "budget", "deadline", "criterion")
		w.each("demands", func(r rnd, j *job) {
			for _, d := range []struct {
				name  string
				value string
			}{{"min_performance", r.text("1 2 5")}, {"max_price", r.text("5 10 20")}, {"budget", fmt.Sprint(j.estimate * j.procs * r.among(1, 4))}, {"deadline", fmt.Sprint(j.submit + j.estimate*r.among(1, 6))}, {"criterion", r.one(criteria...)}} {
				if r.chance(25) {
					j.more[d.name] = d.value
				}
			}
			if j.more["max_price"] != "" { // by that alone ALP goes, whatever the budget is
				delete(j.more, "budget")
			}
		})
	}},
	{name: "workload-of-two", of: cluster | gridOf, odds: 2, not: "model of-a-log job-file", add: func(r rnd, w *world) {
		w.each("workload-of-two", func(r rnd, j *job) { j.allocated = max(1, min(w.procs, j.procs+r.among(-2, 2))) })
		w.set("procs-from", r.text("requested allocated max"))
	}},
	{name: "no-time", of: command | studyOf | siteLog, odds: 7, add: func(r rnd, w *world) {
		w.each("no-time", func(r rnd, j *job) {
			if r.chance(25) {
				j.runtime = 0
			}
		})
	}},
	{name: "fractions", of: cluster | domain | gridOf | siteLog, odds: 5, add: func(r rnd, w *world) {
		w.each("fractions", func(r rnd, j *job) {
			if r.chance(50) {
				j.fraction = "." + r.text("5 25 1 3 000001 999999 3333")
			}
		})
	}},
	{name: "overlong", of: cluster | domain | gridOf | program | studyOf | siteLog, odds: 6, add: func(r rnd, w *world) {
		w.each("overlong", func(r rnd, j *job) {
			if r.chance(30) {
				j.estimate = max(1, j.runtime/2)
			}
		})
	}},
	{name: "too-large", of: command, odds: 4, add: func(r rnd, w *world) {
		w.each("too-large", func(r rnd, j *job) {
			if r.chance(15) {
				j.procs = w.procs + r.among(1, 3)
			}
		})
	}},
	{name: "late", of: command | siteLog, odds: 4, add: func(r rnd, w *world) {
		by := r.among(1, 100000)
		w.each("late", func(r rnd, j *job) { j.submit += by })
	}},
	{name: "calendar", of: cluster | gridOf, odds: 2, not: "model of-a-log job-file", add: func(r rnd, w *world) {
		w.header = append(w.header, "UnixStartTime: 843480031", "TimeZoneString: Europe/Stockholm")
	}},
	{name: "converted", of: cluster | domain | gridOf, odds: 4, not: "model of-a-log job-file batches", add: func(r rnd, w *world) {
		w.format = r.text("csv csv csv sacct gwf swf")
		w.set("from", w.format)
		if w.kind == cluster { // not all of them tell it
			w.set("procs", strconv.Itoa(w.procs))
		}
	}},
	{name: "backwards", of: cluster | gridOf, odds: 3, not: "model of-a-log job-file feedback", add: func(r rnd, w *world) {
		r.Shuffle(len(w.jobs), func(i, j int) { w.jobs[i], w.jobs[j] = w.jobs[j], w.jobs[i] })
		w.set("sort", "true")
	}},
	{name: "estimates", of: cluster | domain | gridOf | studyOf | siteLog, not: "job-file", add: func(r rnd, w *world) {
		w.set("estimates", r.text("exact factor:2 factor:0.5 factor:3.3 tsafrir tsafrir:max=1h fmodel:3 fmodel:1"))
	}},
	{name: "missing", of: cluster | domain | gridOf, odds: 4, not: "job-file model of-a-log", add: func(r rnd, w *world) {
		w.each("missing", func(r rnd, j *job) {
			if r.chance(40) {
				j.estimate = -1
			}
		})
		w.set("missing-estimate", r.text("runtime drop 20"))
	}},
	{name: "strict", of: cluster | domain | gridOf, odds: 2, not: "job-file model of-a-log missing overlong", add: func(r rnd, w *world) { w.set("strict", "true") }},
	{name: "where", of: cluster | domain | gridOf | studyOf | siteLog, odds: 5, not: "job-file", add: func(r rnd, w *world) {
		w.set("where", r.one("procs < 4", "not (user == 2)", "id % 3 != 0", "runtime > 5 and procs in 1..8", "submit >= 10 or user in [1, 3]"))
	}},
	{name: "part", of: cluster | domain | gridOf | studyOf | siteLog, odds: 5, add: func(r rnd, w *world) {
		if r.chance(70) {
			w.set("first", r.number(1, max(1, len(w.jobs))))
		}
		if r.chance(50) {
			w.set("skip", r.number(0, 3))
		}
	}},
	{name: "load", of: cluster | domain | gridOf | studyOf | siteLog, odds: 4, not: "job-file feedback", add: func(r rnd, w *world) { w.set("load", r.text("0.5 0.9 1.7")) }},
	{name: "shift", of: cluster | domain | gridOf | studyOf | siteLog, odds: 4, add: func(r rnd, w *world) { w.set("shift", "true") }},
	{name: "feedback", of: cluster | domain | gridOf | siteLog, odds: 8, add: func(r rnd, w *world) {
		w.each("feedback", func(r rnd, j *job) {
			if at := slices.Index(w.jobs, j); at > 0 && r.chance(60) {
				j.preceding, j.think = w.jobs[r.IntN(at)].id, []int{0, 0, 5, 30}[r.IntN(4)]
			}
		})
		w.set("feedback", "true")
	}},
	{name: "moldable", of: cluster | domain | program | studyOf, odds: 10, not: "overhead", add: func(r rnd, w *world) {
		w.set("moldable", r.text("linear amdahl:serial=0.1 downey:A=8:sigma=1")+r.one("", "", ":from=0.3:to=3", ":shapes=all", ":shapes=2"))
	}},

	// The machine.
	{name: "union", of: domain, odds: 8, add: func(r rnd, w *world) {
		first := map[string]string{"name": "x", "generate": w.yaml["generate"]}
		delete(w.yaml, "generate")
		w.members = []map[string]string{first}
		for i := range r.among(1, 2) {
			w.members = append(w.members, map[string]string{"name": string(rune('y' + i)), "generate": fmt.Sprintf("{count: %d}", r.among(1, 4))})
		}
	}},
	{name: "domains", of: gridOf, odds: 20, add: func(r rnd, w *world) {
		w.yaml["cycle"], w.yaml["interval"] = r.text("20 60 100"), "2000"
		w.yaml["trace"] = fmt.Sprintf("{performance: %s, wealth: [1, 2]}", r.text("1 3"))
		if r.chance(40) {
			w.sites = nil
		}
		for i := range r.among(1, 2) {
			w.domains = append(w.domains, map[string]string{"name": "d" + strconv.Itoa(i+1), "generate": fmt.Sprintf("{count: %d}", r.among(2, 6)), "policy": r.text("easy fcfs conservative")})
		}
		if w.source == "file" {
			delete(w.yaml, "trace")
		}
	}},
	{name: "nested", of: gridOf, odds: 5, add: func(r rnd, w *world) {
		w.yaml["grids"] = fmt.Sprintf("[{name: in, strategy: %s, offers: %s, network: {latency: %s}, clusters: [{name: e, processors: %d}, {name: f, processors: %d}]}]", r.text("dispatch earliest distributed"), r.text("best all"), r.text("0 0.5 3"), r.among(2, 8), r.among(2, 8))
	}},
	{name: "speeds", of: gridOf, odds: 6, add: func(r rnd, w *world) {
		for _, s := range w.sites {
			s["speed"] = r.text("0.5 1 1.3 2")
		}
	}},
	{name: "cluster-prices", of: gridOf, odds: 8, add: func(r rnd, w *world) {
		for _, s := range w.sites {
			if r.chance(70) {
				s["price"] = r.text("0.5 1 2.75 1e-6")
				if r.chance(40) {
					s["pay_by_use"] = "true"
				}
			}
		}
	}},
	{name: "site-policies", of: gridOf, odds: 6, add: func(r rnd, w *world) {
		for _, s := range w.sites {
			s["policy"] = strconv.Quote(anyOf(r, tables.Policies, 1))
		}
		for _, s := range w.domains {
			s["policy"] = strconv.Quote(bounded(anyOf(r, tables.Nodes, 1)))
		}
	}},
	{name: "own-jobs", of: gridOf, odds: 5, add: func(r rnd, w *world) {
		if len(w.sites) > 0 {
			w.sites[0]["local"] = "own.swf"
			text := "; MaxProcs: 2\n"
			for i, at := 1, 0; i < 6; i++ {
				text += fmt.Sprintf("%d %d -1 %d 1 -1 -1 1 %d -1 1 1 1 -1 1 -1 -1 -1\n", i, at, r.among(1, 50), r.among(50, 80))
				at += r.among(0, 30)
			}
			w.files["own.swf"] = text
			if r.chance(30) {
				w.sites[0]["local"] = "own.csv"
				w.files["own.csv"] = "id,submit,nodes,volume,after\n1,0,1,30,\n2,5,1,20,1+3\n3,9,1,40,1:ok 2\n"
			}
		}
	}},
	{name: "queue-limit", of: gridOf, odds: 4, add: func(r rnd, w *world) {
		for _, s := range append(w.sites, w.domains...) {
			s["queue_limit"] = r.number(1, 4)
		}
	}},
	{name: "network", of: gridOf, odds: 8, add: func(r rnd, w *world) {
		w.yaml["network"] = r.one("{latency: 0.5}", "{latency: 5}", "{latency: 0.1, bandwidth: 1e4}", "{latency: 2, links: [{between: [broker-1, regulator], latency: 9}]}")
	}},
	{name: "assign", of: gridOf, odds: 4, add: func(r rnd, w *world) { w.yaml["assign"] = r.text("round-robin user random") }},
	{name: "expiry", of: gridOf, odds: 3, add: func(r rnd, w *world) { w.yaml["expiry"] = r.text("1 20") }},
	{name: "messages", of: gridOf, odds: 4, add: func(r rnd, w *world) { w.yaml["log"] = "true" }},
	{name: "nodes-file", of: domain | gridOf, odds: 8, add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			delete(p, "generate")
			p["nodes"] = "nodes.csv"
			text := "id,performance,price,q,ram,os,owner\n"
			for i := 1; i <= w.procs; i++ {
				text += fmt.Sprintf("%d,%s,%s,%s,%d,%s,%s\n", 2*i, r.text("1 1 2 4 7"), r.text("1 2 4.2 9.6"), r.text("1 3.5"), r.among(8, 64), r.text("linux bsd"), r.one("acme", "lab", ""))
			}
			w.files["nodes.csv"] = text
		}
	}},
	{name: "owners", of: domain | gridOf, odds: 8, not: "own-queues", add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			p["local"] = fmt.Sprintf("{level: [%s], task: [%s], cycles: %d, rule: %s}", r.one("0, 2", "1, 5", "3, 8"), r.one("5, 20", "10, 30"), r.among(1, 5), r.text("waits preempts"))
			w.owned(r)
		}
	}},
	{name: "own-queues", of: domain | gridOf, odds: 6, add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			w.owned(r)
			p["local"] = fmt.Sprintf("{rule: %s, queue: {policy: %s, gap: %s, nodes: [1, 1], length: [%s], until: %s}}", r.text("waits preempts"), r.text("fcfs easy conservative"), r.text("30 100"), r.one("10, 50", "50, 200"), r.text("300 1000"))
		}
	}},
	{name: "prices", of: domain | gridOf, odds: 5, not: "pricing", add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			p["prices"] = "prices.csv"
			text := "time,node,price\n"
			for at := 0; at < 200; at += r.among(10, 90) {
				text += fmt.Sprintf("%d,2,%s\n", at, r.text("1 2 8 30"))
			}
			w.files["prices.csv"] = text
		}
	}},
	{name: "pricing", of: domain | gridOf, odds: 6, add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			w.owned(r)
			p["pricing"] = fmt.Sprintf("{every: %s, patient: %s, rules: [%s]}", r.text("20 60 200"), r.text("true false"),
				r.one("{use: {target: 0.5, step: 0.3, floor: 0.1, cap: 9}}", "{competition: {factor: 0.95, floor: 0.5}}", "{season: {period: 300, factors: [1, 2, 3, 2], amplitude: 0.2, peak: 100}}", "{use: {target: 0.3, step: 0.5, together: true}}"))
		}
	}},
	{name: "by-use", of: domain | gridOf, odds: 4, add: func(r rnd, w *world) {
		if p := w.place(); p != nil {
			p["pay_by_use"] = "true"
			if w.kind == domain {
				delete(p, "pay_by_use")
				w.yaml["pay_by_use"] = "true"
			}
		}
	}},
	{name: "interval", of: domain, odds: 4, add: func(r rnd, w *world) { w.yaml["interval"] = r.text("100 300 5000") }},
	{name: "criteria", of: domain | gridOf, odds: 6, add: func(r rnd, w *world) {
		if w.kind == domain || len(w.domains) > 0 {
			w.yaml["criteria"] = "[" + values["NAME"](r) + ", " + values["NAME"](r) + "]"
		}
	}},

	// Policies.
	{name: "another", of: cluster | domain | gridOf | program | studyOf, odds: 15, add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, w.another(r, 0))
	}},
	{name: "parameters", of: cluster | domain | gridOf | program | studyOf, odds: 20, add: func(r rnd, w *world) {
		for i := range w.policies {
			w.policies[i] = w.another(r, 1+r.IntN(3))
		}
		slices.Sort(w.policies)
		w.policies = slices.Compact(w.policies)
	}},
	{name: "three", of: cluster | domain | gridOf, odds: 5, add: func(r rnd, w *world) {
		for range 3 {
			w.policies = appendNew(w.policies, w.another(r, r.IntN(2)))
		}
	}},
	{name: "preempting", of: cluster | domain | program | studyOf, odds: 12, add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, w.with(r, r.text("selective-preemption time-slicing"), r.IntN(3)))
	}},
	{name: "malleable", of: cluster | domain | program, odds: 8, needs: "moldable", add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, w.with(r, "equipartition", r.IntN(2)))
	}},
	{name: "formula", of: cluster | domain | program, odds: 5, add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, r.text("easy fcfs conservative")+":order="+r.one(formulas...))
	}},
	{name: "first-spare", of: cluster | program, odds: 3, add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, r.text("easy easy-sjbf")+":spare=first")
	}},
	{name: "optimal", of: cluster, odds: 12, not: "model of-a-log arrays dependencies feedback", add: func(r rnd, w *world) {
		most := 8
		if w.has("moldable") { // each shape is one more branch of the search
			most = 6
		}
		w.jobs = w.jobs[:min(len(w.jobs), r.among(3, most))]
		for _, spec := range []string{"optimal", "optimal:of=makespan", "optimal:of=slowdown"} {
			if r.chance(60) {
				w.policies = appendNew(w.policies, spec)
			}
		}
		if w.has("moldable") {
			w.policies = appendNew(w.policies, r.text("fcfs easy conservative")+":shape="+r.text("end largest"))
		}
	}},
	{name: "within", of: domain, odds: 3, needs: "union", add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, bounded(r.text("easy fcfs css bsf")+":within=domain"))
	}},

	// What else happens.
	{name: "reservations", of: cluster | domain | studyOf, odds: 8, add: func(r rnd, w *world) {
		text := "job_id,submit,start,processors,duration,runtime,user\n"
		for i, at := 1, 0; i <= r.among(1, 4); i++ {
			duration := r.among(1, 60)
			text += fmt.Sprintf("%d,%d,%d,%d,%d,%d,%s\n", 9000000+i, at, at+r.among(0, 80), r.among(1, w.procs), duration, max(1, duration-r.among(0, 5)), r.text("1 2"))
			at += r.among(0, 40)
		}
		w.files["booked.csv"] = text
		w.set("reservations", "booked.csv")
	}},
	{name: "outages", of: cluster | domain | gridOf | studyOf, odds: 10, add: func(r rnd, w *world) {
		w.set("outages", fmt.Sprintf("%s:mtbf=%s:repair=%s:until=%s%s", r.text("exponential weibull:shape=0.7 lognormal:sigma=1"), r.text("50 300 2000"), r.text("5 40 200"), r.text("200 1000"), r.one("", "", ":group=2", ":crews=1", ":repair-sigma=0.5")))
	}},
	{name: "outage-log", of: cluster | domain | gridOf, odds: 6, not: "outages", add: func(r rnd, w *world) {
		w.set("outages", "lost.csv")
		w.files["lost.csv"] = w.outageLog(r)
	}},
	{name: "victims", of: cluster | domain | gridOf | studyOf, odds: 10, needs: "outages outage-log", add: func(r rnd, w *world) {
		w.set("victims", r.one("requeue", "requeue:restart=3", "requeue:limit=2", "kill", "wait", "checkpoint:interval=10", "checkpoint:interval=7:cost=1", "checkpoint:interval=20:cost=2:restart=3:limit=3"))
	}},
	{name: "checkpoints", of: program, odds: 10, add: func(_ rnd, w *world) { w.set("victims", "checkpoint") }},
	{name: "to-checkpoints", of: cluster | domain, odds: 4, needs: "victims", add: func(r rnd, w *world) {
		if !strings.HasPrefix(w.get("victims"), "checkpoint") {
			w.set("victims", "checkpoint:interval=10:cost=1")
		}
		w.policies = appendNew(w.policies, "selective-preemption:keep=checkpoint"+r.one("", ":slice=5", ":sf=1.2"))
	}},

	// Settings.
	{name: "pass", of: cluster | domain | gridOf | program | studyOf, odds: 15, add: func(r rnd, w *world) { w.set("pass", r.text("event each each instant")) }},
	{name: "overrun", of: cluster | gridOf | program | studyOf, odds: 10, not: "job-file", add: func(r rnd, w *world) {
		w.set("overrun", r.text("kill extend raise"))
		if len(w.domains) > 0 {
			w.set("overrun", "raise")
		}
	}},
	{name: "wake", of: cluster | domain | gridOf | program | studyOf, odds: 10, add: func(r rnd, w *world) { w.set("wake", r.text("7 30s 10:offset=3 1 apart=5 apart=20s")) }},
	{name: "overhead", of: cluster | studyOf, odds: 8, add: func(r rnd, w *world) {
		w.set("overhead", r.text("dispatch=1 prologue=5:epilogue=3 prologue=1s..9s dispatch=exponential/3s:epilogue=2 epilogue=lognormal/4s/0.5 prologue=one-of/0/2/9:epilogue=gamma/3s/2"))
	}},
	{name: "compression", of: cluster | domain | gridOf | studyOf, odds: 4, add: func(r rnd, w *world) {
		w.set("compression", "off")
		if w.kind != gridOf {
			w.policies = appendNew(w.policies, "conservative")
		}
	}},
	{name: "power", of: cluster | domain | gridOf | studyOf | slurms, odds: 8, add: func(r rnd, w *world) { w.power(r.text("idle=100 idle=90:busy=180 busy=250:off=5")) }},
	{name: "switch-off", of: cluster | domain, odds: 8, needs: "power", not: "owners own-queues", add: func(r rnd, w *world) {
		w.power(fmt.Sprintf("switch-off=%s:boot=%s:shutdown=%s", r.text("0 5 60"), r.text("0 3 20 200"), r.text("0 2 10")))
		if r.chance(30) {
			w.power("boot-power=150:shutdown-power=120")
		}
	}},
	{name: "power-profile", of: cluster | domain | gridOf | slurms, odds: 5, needs: "power", add: func(r rnd, w *world) { w.power("profile=on") }},
	{name: "per-node", of: cluster, odds: 4, needs: "power", not: "power-cap cap-schedule cap-by-price", add: func(r rnd, w *world) { w.power("per-node=" + r.number(1, w.procs)) }},
	{name: "power-cap", of: cluster | domain, odds: 8, needs: "power", not: "malleable owners own-queues", add: func(r rnd, w *world) {
		cap := w.procs*100 + r.among(1, max(1, w.procs))*110
		w.policies = appendNew(w.policies, fmt.Sprintf("%s:power-cap=%d", w.with(r, r.text("fcfs easy conservative easy-sjbf easy++ heft time-slicing selective-preemption"), 0), cap))
	}},
	{name: "electricity", of: cluster | domain | gridOf | slurms, odds: 6, needs: "power", add: func(r rnd, w *world) {
		w.files["curve.csv"] = "time,value\n0,1\n" + r.one("7,3\n", "7,3\n20,2\n", "40,0\n")
		w.power(r.text("price carbon") + "=" + filepath.Join(w.dir, "curve.csv") + ":every=" + r.text("50 1h"))
	}},
	{name: "deferral", of: cluster | domain, odds: 8, needs: "electricity", add: func(r rnd, w *world) {
		w.policies = appendNew(w.policies, w.with(r, r.text("fcfs easy conservative easy-sjbf easy++ heft"), 0)+":defer="+w.signal()+"/1/"+r.text("5 30 1h"))
	}},
	{name: "cap-schedule", of: cluster | domain, odds: 8, needs: "power", not: "malleable owners own-queues", add: func(r rnd, w *world) {
		cap := func() int { return w.procs*100 + r.among(1, max(1, w.procs))*110 }
		text := "from,to,watts,every,until\n"
		for i, at := 0, r.among(0, 20); i < r.among(1, 3); i++ {
			text += fmt.Sprintf("%d,%d,%d,%s\n", at, at+r.among(1, 30), cap(), r.one(",", "40,200", "1h,86400"))
			at += r.among(0, 30)
		}
		w.files["caps.csv"] = text
		w.power("caps=" + filepath.Join(w.dir, "caps.csv"))
		w.policies = appendNew(w.policies, w.with(r, r.text("fcfs easy conservative easy-sjbf easy++ heft time-slicing selective-preemption"), 0)+":power-cap=schedule")
	}},
	{name: "cap-by-price", of: cluster | domain, odds: 8, needs: "electricity", not: "malleable owners own-queues", add: func(r rnd, w *world) {
		cap := func() int { return w.procs*100 + r.among(1, max(1, w.procs))*110 }
		text := fmt.Sprintf(":power-cap=%s/%s/%d", w.signal(), r.text("0 1 2 5"), cap())
		if r.chance(30) {
			text += fmt.Sprintf("/%d", cap())
		}
		w.policies = appendNew(w.policies, w.with(r, r.text("fcfs easy conservative easy-sjbf easy++ heft time-slicing selective-preemption"), 0)+text)
	}},
	{name: "exec", of: cluster, odds: 8, not: "moldable malleable reservations nonsense", add: func(r rnd, w *world) { w.addOutside(r) }},
	{name: "predict", of: cluster | domain | gridOf | program | studyOf | slurms, odds: 10, add: func(r rnd, w *world) {
		w.set("predict", r.text("request request:factor=0.5 true recent:k=2 recent:k=3:of=median similar similar:by=user typical regression regression:weight=large"))
	}},
	{name: "correct", of: cluster | domain | gridOf | program | studyOf | slurms, odds: 8, needs: "predict", add: func(r rnd, w *world) { w.set("correct", r.text("request tsafrir doubling doubling:capped=on own")) }},
	{name: "seed", of: cluster | domain | gridOf | slurms, odds: 6, add: func(r rnd, w *world) { w.set("seed", r.number(2, 1000000)) }},
	{name: "warm-up", of: cluster | domain | gridOf | slurms, odds: 8, add: func(r rnd, w *world) { w.set("warmup", r.text("1 2 jobs=2 5s 10s")) }},
	{name: "tau", of: cluster | domain | gridOf | studyOf | slurms, odds: 5, add: func(r rnd, w *world) { w.set("tau", r.text("1 60 1m")) }},
	{name: "bounds", of: cluster | domain | gridOf | slurms, odds: 40, add: func(r rnd, w *world) { w.set("bounds", "true") }},
	{name: "allocation", of: cluster | domain | gridOf | slurms, odds: 6, add: func(r rnd, w *world) { w.set("allocation", r.text("intervals count none")) }},

	// Of studies.
	{name: "kept", of: studyOf, add: func(r rnd, w *world) { w.yaml["keep"] = r.one("[jobs]", "[jobs, queue, events]", "all") }},
	{name: "by-batches", of: studyOf, add: func(r rnd, w *world) {
		w.yaml["batches"] = r.one("3", "20s", "2")
		if r.chance(50) {
			w.yaml["warmup"] = r.one("mser", "jobs=2")
		}
	}},
	{name: "cut-short", of: studyOf, add: func(rnd, *world) {}},

	// What is written and read.
	{name: "events", of: command | slurms, odds: 15, add: func(r rnd, w *world) { w.silently("--events") }},
	{name: "decisions", of: cluster | domain | gridOf | slurms, odds: 12, add: func(r rnd, w *world) { w.silently("--decisions") }},
	{name: "alternatives", of: domain, odds: 6, add: func(r rnd, w *world) { w.silently("--alternatives") }},
	{name: "perfetto", of: command | slurms, odds: 5, add: func(r rnd, w *world) { w.silently("--perfetto") }},
	{name: "report", of: command | slurms, odds: 5, add: func(r rnd, w *world) { w.after = append(w.after, reported) }},
	{name: "plot", of: command | slurms, odds: 2, add: func(r rnd, w *world) { w.after = append(w.after, plotted) }},
	{name: "explain", of: cluster | domain | gridOf | slurms, odds: 6, needs: "decisions", add: func(r rnd, w *world) { w.after = append(w.after, explained) }},
	{name: "gantt", of: command | slurms, odds: 4, add: func(r rnd, w *world) { w.after = append(w.after, charted) }},
	{name: "scenario-file", of: cluster | domain | gridOf | slurms, odds: 8, add: func(r rnd, w *world) { w.asFile = true }},
	{name: "used-folder", of: cluster | domain | gridOf | slurms, odds: 5, add: func(r rnd, w *world) { w.before = true }},
	{name: "repeated", of: cluster | domain, odds: 5, add: func(r rnd, w *world) { w.repeat = true }},
	{name: "nonsense", of: cluster | domain | gridOf, odds: 2, add: func(r rnd, w *world) {
		w.set(r.one("wake", "victims", "outages", "power", "predict", "where", "tau", "moldable", "overhead"), r.one("x", ":", "1e400", "-1", "a=b=c", "50:50", "(", "requeue:limit=0"))
	}},
})

func appendNew(all []string, spec string) []string {
	if slices.Contains(all, spec) {
		return all
	}
	return append(all, spec)
}

// each changes jobs, each by random numbers of its own.
func (w *world) each(what string, change func(r rnd, j *job)) {
	for i, j := range w.jobs {
		if j.more == nil {
			j.more = map[string]string{}
		}
		change(stream(w.seed, fmt.Sprintf("%s of job %d", what, i+1)), j)
	}
}

// place is where the keys of a domain stand: the machine itself, the first of a union, the
// first domain of a grid; nil where there is none.
func (w *world) place() map[string]string {
	switch {
	case len(w.members) > 0:
		return w.members[0]
	case w.kind == domain:
		return w.yaml
	case len(w.domains) > 0:
		return w.domains[0]
	}
	return nil
}

// owned has the nodes that are generated name their owners.
func (w *world) owned(r rnd) {
	p := w.place()
	if text := p["generate"]; text != "" && !strings.Contains(text, "owners") {
		p["generate"] = strings.TrimSuffix(text, "}") + fmt.Sprintf(", owners: %d}", r.among(1, 2))
	}
}

// power adds to the model of power.
func (w *world) power(text string) {
	if before := w.get("power"); before != "" {
		text = before + ":" + text
	}
	w.set("power", text)
}

// signal is which curve of electricity the world has.
func (w *world) signal() string {
	if strings.Contains(w.get("power"), "carbon=") {
		return "carbon"
	}
	return "price"
}

func (w *world) outageLog(r rnd) string {
	var lines []string
	sites := append(slices.Clone(w.sites), w.domains...)
	which := r.chance(50)
	for at := 0; len(lines) < r.among(1, 6); at += r.among(0, 60) {
		n := w.procs
		line := fmt.Sprintf("%d,%d,", at, at+r.among(1, 80))
		named := w.kind == domain || which
		if w.kind == gridOf {
			if len(sites) == 0 {
				break
			}
			s := sites[r.IntN(len(sites))]
			line = s["name"] + "," + line
			named = s["processors"] == ""
			n = 2
		}
		switch {
		case !named:
			line += r.number(1, n) + ","
		case w.kind == cluster:
			line += "," + r.number(0, n-1)
		default:
			line += ",2"
		}
		lines = append(lines, line+","+r.one("", strconv.Itoa(max(0, at-30))))
	}
	head := "from,to,processors,node,known"
	if w.kind == gridOf {
		head = "site," + head
	}
	return head + "\n" + strings.Join(lines, "\n") + "\n"
}
