package cli

import "strings"

// drawn calls trace convert of a source whose parameters are written as flags are:
// "lublin", "--jobs=50", "--seed", "7", "--out", "a.swf". Without --out the log goes to
// standard output.
func drawn(args ...string) outcome {
	source, out := args[0], "-"
	var flags []string
	for i := 1; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !given && (i+1 == len(args) || strings.HasPrefix(args[i+1], "--")) { // a switch
			value = "on"
		} else if !given {
			i++
			value = args[i]
		}
		switch name {
		case "out":
			out = value
		case "seed", "estimates":
			flags = append(flags, "--"+name+"="+value)
		default:
			if strings.Contains(value, ":") {
				value = "'" + value + "'"
			}
			source += ":" + name + "=" + value
		}
	}
	return call(append([]string{"trace", "convert", source, out}, flags...)...)
}
