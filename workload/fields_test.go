package workload

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFieldsAreThoseOfARecordInTheirOrder(t *testing.T) {
	var rec Record
	of := reflect.ValueOf(&rec).Elem()
	require.Equal(t, numFields+1, of.NumField(), "and the columns beyond SWF")
	for field := 1; field <= numFields; field++ {
		rec.Put(field, int64(100+field))
		require.EqualValues(t, 100+field, rec.Field(field))
		require.EqualValues(t, 100+field, of.Field(field-1).Int(), of.Type().Field(field-1).Name)
	}
	require.Nil(t, rec.More)
}
