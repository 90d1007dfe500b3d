package study

import (
	"encoding/json"
	"reflect"

	"github.com/gridslot/gridslot/experiments/simulation"
)

// kind is the form that a key's value may have.
type kind uint8

const (
	values     kind = iota // a text or number, or a list of them: an axis
	wholes                 // whole numbers, one or a list
	whole                  // one whole number
	word                   // one text or number
	words                  // a list of texts, or one
	zips                   // settings of lists, or a list of such
	samples                // a sample, or a list of them
	choices                // settings of values or lists, or a list of such
	limits                 // settings of limit
	against                // a text or number, or settings of such
	dimensions             // ranges and choices of a sample
	texts                  // settings of texts
)

// kindsOf are the kinds of the keys of a study file, and of those keys of settings that are no words.
var kindsOf = map[string]kind{
	"title": word, "batches": word, "warmup": word, "compare": word,
	"traces": values, "scenarios": values, "domains": values, "grids": values, "policies": values,
	"seeds":        wholes,
	"replications": whole,
	"zip":          zips,
	"sample":       samples,
	"except":       choices, "only": choices,
	"keep": words, "measures": words,
	"limit":    limits,
	"baseline": against,
	"labels":   texts,
	"tries":    whole, "size": whole, "seed": whole, "of": dimensions,
}

// studySchema is the study file as a JSON schema, by which editors complete keys and mark
// what is wrong.
func studySchema() []byte {
	properties := map[string]any{}
	for _, s := range simulation.SettingTable() {
		properties[s.Name] = property(values, s.Doc)
	}
	for _, k := range keys {
		of, there := kindsOf[k.name]
		if !there {
			panic("no kind is known of the key " + k.name)
		}
		properties[k.name] = property(of, k.text)
		if k.param != "" {
			properties[k.param] = property(of, "the same as "+k.name)
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "A study of gridslot",
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": property(values, "a name of the study's own, which stands in other values as {NAME}"),
	}, "", "  ")
	if err != nil {
		panic("a schema of maps and texts: " + err.Error()) // it is no user's
	}
	return append(text, '\n')
}

type object = map[string]any

// property is what a key's value may be.
func property(k kind, text string) object {
	p := form(k)
	p["description"] = text
	return p
}

func form(k kind) object {
	scalar := object{"type": []string{"string", "number", "boolean"}}
	listOf := func(item object) object {
		return object{"anyOf": []object{item, {"type": "array", "minItems": 1, "items": item}}}
	}
	number := object{"type": "integer", "minimum": 0}
	switch k {
	case values, words:
		return listOf(scalar)
	case wholes:
		return listOf(number)
	case whole:
		return number
	case word:
		return scalar
	case zips:
		return listOf(object{"type": "object", "minProperties": 2, "additionalProperties": listOf(scalar)})
	case choices:
		return listOf(object{"type": "object", "minProperties": 1, "additionalProperties": listOf(scalar)})
	case against:
		return object{"anyOf": []object{scalar, {"type": "object", "minProperties": 1, "additionalProperties": scalar}}}
	case texts:
		return object{"type": "object", "minProperties": 1, "additionalProperties": scalar}
	case limits:
		return settings(limitYAML{})
	case samples:
		return listOf(settings(sampleYAML{}, "size", "of"))
	case dimensions:
		ranges := settings(rangeYAML{}, "from", "to")
		return object{"type": "object", "minProperties": 1, "additionalProperties": object{"anyOf": []object{ranges, {"type": "array", "minItems": 1, "items": scalar}}}}
	}
	return object{}
}

// keysOf are the keys of settings, which are the fields of a struct.
func keysOf(of any) (list []key) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		list = append(list, key{name: f.Tag.Get("yaml"), text: f.Tag.Get("doc")})
	}
	return list
}

// settings are those of a struct.
func settings(of any, required ...string) object {
	properties := object{}
	for _, k := range keysOf(of) {
		of, there := kindsOf[k.name]
		if !there {
			of = word
		}
		properties[k.name] = property(of, k.text)
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}
