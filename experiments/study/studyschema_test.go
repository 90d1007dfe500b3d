package study

import (
	"encoding/json"

	"github.com/gridslot/gridslot/experiments/simulation"
)

// studySchema is the study file as a JSON schema, by which editors complete keys and mark
// what is wrong.
func studySchema() []byte {
	properties := map[string]any{}
	for _, s := range simulation.SettingTable() {
		properties[s.Name] = property(values, s.Doc)
	}
	for _, k := range keys {
		properties[k.name] = property(k.kind, k.text)
		if k.param != "" {
			properties[k.param] = property(k.kind, "the same as "+k.name)
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
	case limits:
		return settings(limitKeys)
	case samples:
		return listOf(settings(sampleKeys, "size", "of"))
	case dimensions:
		ranges := settings(rangeKeys, "from", "to")
		return object{"type": "object", "minProperties": 1, "additionalProperties": object{"anyOf": []object{ranges, {"type": "array", "minItems": 1, "items": scalar}}}}
	}
	return object{}
}

// settings are those of a table of keys.
func settings(table []key, required ...string) object {
	properties := object{}
	for _, k := range table {
		properties[k.name] = property(k.kind, k.text)
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}
