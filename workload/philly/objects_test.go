package philly

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// all are the objects of a text, with what is wrong with them, and what ends it.
func all(o *objects, err error) (told []string) {
	for err == nil && o.next() {
		job, _ := json.Marshal(o.current)
		told = append(told, fmt.Sprintf("%d %s %v", o.number, strings.ReplaceAll(string(job), "null", "[]"), o.damage))
	}
	if err == nil {
		err = o.err
	}
	return append(told, fmt.Sprint(err))
}

// decoded leaves all objects to the decoder of the standard library.
func decoded(name string, in io.Reader) (*objects, error) {
	o := &objects{name: name, limit: &limited{in, longest}}
	o.dec = json.NewDecoder(o.limit)
	if t, err := o.dec.Token(); err != nil || t != json.Delim('[') {
		return nil, fmt.Errorf("%s: it does not begin with an array of jobs", name)
	}
	return o, nil
}

func compare(t require.TestingT, text string, size int, end error, halves bool) {
	input := func() io.Reader {
		var in io.Reader = strings.NewReader(text)
		if halves {
			in = iotest.HalfReader(in)
		}
		if end != nil {
			in = io.MultiReader(in, iotest.ErrReader(end))
		}
		return in
	}
	o, err := objectsOf("x", input(), size)
	require.Equal(t, all(decoded("x", input())), all(o, err), "%s", text)
}

func TestObjectsAreThoseOfTheStandardLibrary(t *testing.T) {
	whole, err := os.ReadFile("testdata/cluster_job_log")
	require.NoError(t, err)
	for at := range len(whole) + 1 { // cut, and with another byte
		compare(t, string(whole[:at]), 1<<11, nil, false)
		compare(t, string(whole[:at])+"}", 512, io.ErrClosedPipe, false)
		for _, c := range []string{"\"", "\\", ",", "]", "é", "\x01", "0"} {
			compare(t, string(whole[:at])+c+string(whole[min(at+1, len(whole)):]), 1<<11, nil, false)
		}
	}
	compare(t, string(whole[:len(whole)-len("]\n")])+strings.Repeat(`, {"status": "Pass"}`, 99)+"]", 1<<10, nil, true)

	for size := range 40 { // a number of which the buffer may have the beginning
		compare(t, "[12345678901234567890, {}]", size+1, nil, false)
	}
	twice := `[{"ip": "m", "gpus": ["g"], "gpus": ["h"]}]`
	twice = `[{"start_time": "a", "detail": ` + twice + `, "detail": ` + twice + `}]`
	compare(t, `[{"attempts": `+twice+`, "attempts": [{"end_time": "b"}]}, {"user": "u", "user": null}]`, 1<<10, nil, false)

	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.SampledFrom([]string{"", "", "", " ", "\n", strings.Repeat(" ", 70)})
		value := rapid.SampledFrom([]string{`"m1"`, `"gpu0"`, `"2017-10-07 01:00:00"`, `""`, "null", `"é"`, `"a\"b"`, "7", "true", "nul", "12345678901", `{"ip": "m"}`, `[]`, `"x`})
		name := rapid.SampledFrom(append(append(append([]string{"Status", "other", `st\u0061tus`}, jobMembers...), attemptMembers...), detailMembers...))
		var b strings.Builder
		sep := func(i int) {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{",", ",", ",", ",", ",", ",", ",", ",", ""}).Draw(t, "comma"))
			}
			b.WriteString(blank.Draw(t, "blank"))
		}
		object := func(names []string, inner func()) {
			b.WriteString("{")
			for i := range rapid.IntRange(0, 4).Draw(t, "members") {
				sep(i)
				of := names[(i+rapid.IntRange(0, 1).Draw(t, "step"))%len(names)]
				if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
					of = name.Draw(t, "name")
				}
				fmt.Fprintf(&b, `"%s"%s:%s`, of, blank.Draw(t, "blank"), blank.Draw(t, "blank"))
				list := of == "attempts" || of == "detail" || of == "gpus"
				switch {
				case rapid.IntRange(0, 9).Draw(t, "any") == 0:
					b.WriteString(value.Draw(t, "value"))
				case list:
					b.WriteString("[")
					for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
						sep(i)
						inner()
					}
					b.WriteString("]")
				default:
					b.WriteString(`"m1"`)
				}
				b.WriteString(blank.Draw(t, "blank"))
			}
			b.WriteString("}")
		}
		gpu := func() { b.WriteString(rapid.SampledFrom([]string{`"gpu1"`, "null"}).Draw(t, "gpu")) }
		detail := func() { object(detailMembers, gpu) }
		attempt := func() { object(attemptMembers, detail) }
		b.WriteString(blank.Draw(t, "blank") + "[")
		for i := range rapid.IntRange(0, 5).Draw(t, "objects") {
			sep(i)
			if rapid.IntRange(0, 9).Draw(t, "any") == 0 {
				b.WriteString(value.Draw(t, "value"))
			} else {
				object(jobMembers, attempt)
			}
		}
		b.WriteString(blank.Draw(t, "blank") + rapid.SampledFrom([]string{"]", "]", "]\n", "", ",", "}", "]]"}).Draw(t, "end"))
		var end error
		if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
			end = errors.New("gone")
		}
		compare(t, b.String(), rapid.IntRange(16, 400).Draw(t, "buffer"), end, rapid.Bool().Draw(t, "halves"))
	})
}

// What most objects look like is read without the decoder, which makes objects of its own.
func TestTheObjectsThatMostAreAreReadQuickly(t *testing.T) {
	o := &objects{number: 1}
	for _, text := range []string{
		`, {"status": "Pass", "vc": "v", "jobid": "j", "attempts": [{"start_time": "None", "end_time": null, "detail": [{"ip": "m", "gpus": ["g", "h"]}, {"gpus": []}]}], "submitted_time": "s", "user": "u"}`,
		"\n,\t{\r\n} ",
	} {
		size, _ := o.readQuick([]byte(text + ", {"))
		require.Equal(t, len(strings.TrimRight(text, " ")), size, text)
	}
	text := `[{"status": 7}` + strings.Repeat(`, {"status": "Pass"}`, 99) + `]`
	o, err := objectsOf("x", iotest.HalfReader(strings.NewReader(text)), 1<<10)
	require.NoError(t, err)
	for range 100 {
		require.True(t, o.next())
	}
	require.Nil(t, o.dec, "one that is odd does not keep the others from it")
}

// Of objects for which the buffer is too small, each may be as long as the longest.
func TestLongObjectsAreManyWithoutBeingTooLong(t *testing.T) {
	const count = 5
	text := "[" + strings.Repeat(`{"status": "`+strings.Repeat("x", longest/(count-1))+`"},`, count) + "{}]"
	o, err := objectsOf("x", strings.NewReader(text), bufferSize)
	require.NoError(t, err)
	for range count + 1 {
		require.True(t, o.next(), "%v", o.err)
	}
	require.False(t, o.next())
	require.NoError(t, o.err)
}
