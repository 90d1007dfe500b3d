package batsim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/workload"
)

// A job is what encoding/json finds in it, and only what is an object is one.
func TestAJobIsWhatStandsInTheObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r "})
		word := rapid.SampledFrom([]string{"1", "-1.5e3", "null", "true", `"x"`, `""`, `"1"`, `"é"`, `"a,b}"`, `"a\"b"`, "[{}]", "{}", `{"a": 1}`})
		key := rapid.SampledFrom([]string{`"id"`, `"subtime"`, `"res"`, `"walltime"`, `"profile"`, `"user"`, `"gpus"`, `"i\u0064"`, `""`, `"extra_data"`})
		var b strings.Builder
		want := job{sound: true}
		var object func(depth int)
		object = func(depth int) {
			b.WriteString(blank.Draw(t, "blank") + "{")
			for i := range rapid.IntRange(0, 4).Draw(t, "members") {
				if i > 0 {
					b.WriteString(",")
				}
				quoted := key.Draw(t, "key")
				var name string
				require.NoError(t, json.Unmarshal([]byte(quoted), &name))
				b.WriteString(blank.Draw(t, "blank") + quoted + blank.Draw(t, "blank") + ":" + blank.Draw(t, "blank"))
				if depth == 0 && name == "extra_data" && rapid.Bool().Draw(t, "nested") {
					object(depth + 1)
				} else {
					text := word.Draw(t, "value")
					if b.WriteString(text); depth > 0 {
						want.more = append(want.more, pair{[]byte(name), []byte(text)})
					} else if text[0] != '{' || name != "extra_data" {
						want.take([]byte(name), []byte(text))
					} else if text != "{}" {
						want.more = append(want.more, pair{[]byte("a"), []byte("1")})
					}
				}
				b.WriteString(blank.Draw(t, "blank"))
			}
			b.WriteString("}")
		}
		object(0)
		text := b.String()
		require.True(t, json.Valid([]byte(text)))
		at := rapid.IntRange(0, len(text)).Draw(t, "cut")
		s := jsontext.NewScanner(iotest.HalfReader(strings.NewReader(text+", "+text[:at])), longest)
		var got job
		require.True(t, got.next(s))
		require.Equal(t, strings.TrimSpace(text), string(s.Raw))
		require.Equal(t, want.said(), got.said())
		require.True(t, s.Element())
		require.Equal(t, at == len(text), got.next(s))
		damaged := strings.Replace(text, ",", " ", 1)
		require.Equal(t, json.Valid([]byte(damaged)), got.parse([]byte(damaged)), damaged)
	})
}

func (j *job) said() string {
	all := fmt.Sprintf("%v %q %q %q %q %q", j.sound, j.id, j.submit, j.size, j.walltime, j.profile)
	for _, m := range j.more {
		all += fmt.Sprintf(" %q: %q", m.key, m.value)
	}
	return all
}

func TestAJobBehindOneThatIsTooLongIsNotTooLong(t *testing.T) {
	s := jsontext.NewScanner(strings.NewReader(`{"id": "`+strings.Repeat("x", longest)+`"}, {"id": "1"}, 5`), longest)
	var j job
	require.True(t, j.next(s))
	require.True(t, s.TooLong)
	require.False(t, j.sound)
	require.True(t, s.Element())
	require.True(t, j.next(s))
	require.False(t, s.TooLong)
	require.Equal(t, `"1"`, string(j.id))
}

func TestAProfileThatIsTooLongIsNoDelay(t *testing.T) {
	text := `{"profiles": {"p": {"type": "delay", "delay": 5}, "q": {"type": "delay", "delay": 5, "x": "` + strings.Repeat("x", longest) + `"}}}`
	f := &file{Scanner: jsontext.NewScanner(strings.NewReader(text), longest), profiles: map[string]profile{}, kinds: map[string]string{}}
	require.NoError(t, f.read())
	require.Equal(t, 5*des.Second, f.profiles["p"].delay)
	require.Equal(t, workload.UnknownTime, f.profiles["q"].delay)
}
