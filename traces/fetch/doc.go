// Package fetch brings logs from the archive, or another place, into the folder in which
// traces.Find looks for them.
//
//	file, err := fetch.Log(ctx, "KTH-SP2-1996-2.1-cln", fetch.Options{})
//	trace, err := workload.OpenSWF(file.Path)
//
//	https  ->  NAME.part, NAME.part.json   what came so far, and of which file
//	       ->  checked: checksum, unpacks within bounds, is a log
//	       ->  NAME.swf.gz, NAME.swf.gz.json   a log and where it comes from
//
// A log has its name only when it is whole and checked. What was interrupted goes on where it
// stopped, if the server still has the same file. Of several processes one fetches a log.
//
// A server is believed little: only https is spoken, only to the host that was asked for, also
// where it redirects; sizes are bounded, packed and unpacked.
//
// The package is for those who fetch: it compiles an HTTP client, which package traces does not.
package fetch
