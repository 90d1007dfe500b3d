package zone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestZonesAreThoseOfHeaders(t *testing.T) {
	at := time.Date(1996, 9, 23, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"Europe/Stockholm": "14:00", "GMT-6": "06:00", "GMT +02": "14:00", "UTC+11": "23:00", "": "12:00", "nowhere": "12:00",
	} {
		require.Equal(t, want, at.In(Of(name)).Format("15:04"), name)
	}
	require.Equal(t, time.UTC, Of("Local"), "it would be another one on every machine")
}
