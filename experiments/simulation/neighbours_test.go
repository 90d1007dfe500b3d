package simulation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload/formats"
)

func TestCSVIsToldItsColumnsByASpecOrAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "columns.yaml")
	require.NoError(t, os.WriteFile(path, []byte("submit: When sent\nprocs: 3\ntimes: ms\nsep: tab\nzone: +02:00\n"), 0o666))
	f, err := parsed(formatTable(), "csv:map='"+path+"':procs=CPUs:durations=min:heading=off")
	require.NoError(t, err)
	of := f.(formats.CSV)
	_, ahead := time.Unix(0, 0).In(of.Zone).Zone()
	require.Equal(t, 7200, ahead)
	of.Zone = nil
	require.Equal(t, formats.CSV{
		Columns: map[string]string{"submit": "When sent", "procs": "CPUs"}, Separator: '\t', NoHeading: true, Times: des.Second / 1000, Durations: 60 * des.Second,
	}, of)
}

func TestWrongParametersOfCSVAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "columns.yaml")
	require.NoError(t, os.WriteFile(path, []byte("submit: a\nmap: b\n"), 0o666))
	units := filepath.Join(t.TempDir(), "units.yaml")
	require.NoError(t, os.WriteFile(units, []byte("submit: a\ntimes: days\n"), 0o666))
	for spec, want := range map[string]string{
		"csv:map='" + units + "'":  `times is "days": want us, ms, s, min or h`,
		"csv:sep=x":                `want comma, semicolon, tab or bar`,
		"csv:heading=no":           `want on or off`,
		"csv:times=days":           `want us, ms, s, min or h`,
		"csv:zone=Nowhere/Here":    `want a time zone`,
		"csv:size=3":               `csv does not take "size"`,
		"csv:map='" + path + "'":   `"map" is none of job, submit`,
		"csv:map='" + path + "no'": `no such file`,
	} {
		_, err := parsed(formatTable(), spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func TestEveryRoleOfCSVIsAParameterWithAText(t *testing.T) {
	require.Len(t, roleTexts, len(formats.CSVRoles()))
	for _, text := range roleTexts {
		require.NotEmpty(t, text)
	}
}

func TestFilesOfFormatsAreFilesOfAScenario(t *testing.T) {
	tables := Standard()
	require.Equal(t, []string{"cluster.xml"}, tables.FilesOf("from", "batsim:platform=cluster.xml"))
	require.Equal(t, []string{"map.yaml"}, tables.FilesOf("from", "csv:sep=tab:map=map.yaml"))
	require.Empty(t, tables.FilesOf("from", "sacct:zone=Europe/Berlin"))
	require.Empty(t, tables.FilesOf("from", ""))
	require.Equal(t, "csv:map=there/map.yaml", tables.PlaceFiles("from", "csv:map=map.yaml", func(path string) string { return "there/" + path }))
	sc := New()
	sc.Workload.Trace, sc.Workload.From = "log.json", "batsim:platform=cluster.xml"
	require.Equal(t, []string{"cluster.xml", "log.json"}, sc.Files(tables))
}
