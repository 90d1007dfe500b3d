package yamlfile

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// Decode puts settings into a struct: each key into the field with the tag `yaml:"KEY"`, those of a
// field `yaml:",inline"` beside it. A field of type *Node takes whatever stands at its key. Unknown
// keys, and values of another type than the field's, are errors; keys without a value leave the
// field as it is. into is a pointer to the struct, which holds the defaults before the call.
//
// The tag `want:"..."` says in an error what the field wants, where its type says too little.
func (n *Node) Decode(into any) error {
	to := reflect.ValueOf(into).Elem()
	return decoding{root: to.Type()}.value(n, to, "the file", "")
}

// DecodeAs is Decode for a part of a file, the value of key: errors name it.
func (n *Node) DecodeAs(key string, into any) error {
	to := reflect.ValueOf(into).Elem()
	return decoding{root: to.Type(), within: key + ": "}.value(n, to, key, "")
}

// numbersReader is a type that reads itself from a list of numbers, and says how many it
// wants.
type numbersReader interface{ ReadNumbers([]float64) error }

// decoding is one call of Decode, on its way down.
type decoding struct {
	root   reflect.Type // that is decoded into
	within string       // begins an error about a key that is not known
	path   string       // the keys on the way, as in "local: queue: "
}

var nodeType = reflect.TypeFor[*Node]()

// value puts n, the value of key or an item of its list, into to. An error says that n is not what
// is wanted: the text of a tag, or where that is "" what the type of to wants.
//
// A type that reads itself comes before what its kind would be, and *Node before anything.
func (d decoding) value(n *Node, to reflect.Value, key, want string) error {
	if to.Type() == nodeType {
		to.Set(reflect.ValueOf(n))
		return nil
	}
	if n.Kind == Nothing { // "speed:" is as if the key were not there
		return nil
	}
	if reader, ok := to.Addr().Interface().(numbersReader); ok {
		return d.numbers(n, reader, key, want)
	}
	if want == "" {
		want = wantOf(to.Type())
	}
	reader, readsText := to.Addr().Interface().(encoding.TextUnmarshaler)
	switch kind := to.Kind(); {
	case readsText && n.Kind == Scalar:
		if err := reader.UnmarshalText([]byte(n.Text)); err != nil {
			return n.Errorf("%s: %w", key, err)
		}
		return nil
	case readsText:
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return d.value(n, to.Elem(), key, want)
	case kind == reflect.Struct && n.Kind == Settings:
		return d.fields(n, to)
	case (kind == reflect.Slice || kind == reflect.Array) && n.Kind == List:
		return d.list(n, to, key)
	case n.Kind == Scalar && setScalar(to, n):
		return nil
	case to.CanInt() && isWhole(n): // which has the right form: what is wrong is its size
		return n.Errorf("%s: the number %s is too large", key, n.Text)
	}
	return n.Errorf("%s: want %s, not %v", key, want, n)
}

// numbers reads a list of numbers for a type that makes something of them.
func (d decoding) numbers(n *Node, into numbersReader, key, want string) error {
	var all []float64
	if err := d.value(n, reflect.ValueOf(&all).Elem(), key, want); err != nil {
		return err
	}
	if err := into.ReadNumbers(all); err != nil {
		return n.Errorf("%s%w", d.path, err)
	}
	return nil
}

// list puts the items of a list into a slice, which becomes as long as the list, or into an array,
// whose further items stay as they are. The want of the list is not that of its items.
func (d decoding) list(n *Node, to reflect.Value, key string) error {
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), len(n.Items), len(n.Items)))
	}
	if len(n.Items) > to.Len() {
		return n.Errorf("%s: the list is too long: want %d values, not %d", key, to.Len(), len(n.Items))
	}
	for i, item := range n.Items {
		if err := d.value(item, to.Index(i), key, ""); err != nil {
			return err
		}
	}
	return nil
}

// fields puts settings into the fields of a struct.
func (d decoding) fields(n *Node, to reflect.Value) error {
	for _, k := range n.Keys {
		field, tag := fieldOf(to, k.Name)
		if !field.IsValid() {
			return k.Errorf("%sthere is no key %q%s", d.within, k.Name, d.suggestion(to.Type(), k.Name))
		}
		below := d
		below.path += k.Name + ": "
		if err := below.value(k.Value, field, k.Name, tag.Get("want")); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf returns the field of a struct for a key, with its tag, or the zero Value.
func fieldOf(of reflect.Value, key string) (reflect.Value, reflect.StructTag) {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		switch name, how, _ := strings.Cut(field.Tag.Get("yaml"), ","); {
		case how == "inline":
			if inner, tag := fieldOf(of.Field(i), key); inner.IsValid() {
				return inner, tag
			}
		case name == key && name != "-":
			return of.Field(i), field.Tag
		}
	}
	return reflect.Value{}, ""
}

// setScalar puts the scalar n into a field, and reports whether the field can hold it.
// A number in quotes is a number where one is wanted; 1e3 and 2.0 are whole numbers.
func setScalar(to reflect.Value, n *Node) bool {
	switch to.Kind() {
	case reflect.String:
		to.SetString(n.Plain())
		return true
	case reflect.Bool:
		on, isBool := n.plain.(bool)
		to.SetBool(on)
		return isBool
	case reflect.Float64:
		v, err := strconv.ParseFloat(n.Plain(), 64)
		to.SetFloat(v)
		return err == nil
	case reflect.Int, reflect.Int64:
		// Numbers without a point are exact to the last digit; others are whole where they
		// have no fraction, and fit below 2^63.
		whole, err := strconv.ParseInt(n.Plain(), 10, 64)
		if v, errFloat := strconv.ParseFloat(n.Plain(), 64); err != nil && errFloat == nil && v == math.Trunc(v) && math.Abs(v) < math.MaxInt64 {
			whole, err = int64(v), nil
		}
		to.SetInt(whole)
		return err == nil
	}
	return false
}

// isWhole reports whether a node is a number without a fraction, of whatever size.
func isWhole(n *Node) bool {
	v, err := strconv.ParseFloat(n.Plain(), 64)
	return err == nil && v == math.Trunc(v)
}

// wantOf returns what fields of a type want, for people.
func wantOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list, [A, B]"
	case reflect.Pointer:
		return wantOf(t.Elem())
	case reflect.Struct:
		return "settings, {KEY: VALUE}"
	}
	return "text"
}

// suggestion returns what an unknown key of a struct may have been meant to be: the key of that
// place which is most like it, or all keys of the place. A key that is well written may stand in
// the wrong part of the file. At the top of a file, keys of all parts are suggested, as there are
// too many to be listed.
func (d decoding) suggestion(place reflect.Type, key string) string {
	var here, known []string
	addKeysOfPlace(place, &here)
	addKeysOf(d.root, &known)
	all := ""
	if place != d.root || d.within != "" {
		all = ": there are " + strings.Join(here, ", ")
	}
	switch near := enum.Suggestion(key, here); {
	case near != "":
		return near
	case slices.Contains(known, key):
		return " here; it belongs to another part of the file" + all
	case all != "":
		return all
	}
	return enum.Suggestion(key, known)
}

// addKeysOfPlace adds the keys of the fields of a struct.
func addKeysOfPlace(t reflect.Type, keys *[]string) {
	for i := range t.NumField() {
		switch name, how, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); {
		case how == "inline":
			addKeysOfPlace(t.Field(i).Type, keys)
		case name != "" && name != "-":
			*keys = append(*keys, name)
		}
	}
}

// addKeysOf adds the keys of all fields below a type, which may contain itself: then it is
// one of those above.
func addKeysOf(t reflect.Type, keys *[]string, above ...reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(above, t) || t == nodeType.Elem() {
		return
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "-" {
			continue // no key of the file, nor what is below it
		}
		if name != "" && !slices.Contains(*keys, name) {
			*keys = append(*keys, name)
		}
		addKeysOf(t.Field(i).Type, keys, append(above, t)...)
	}
}
