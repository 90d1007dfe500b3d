package simulation

import (
	"errors"

	"github.com/gridslot/gridslot/internal/expression"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/where"
)

// This file is about filters of logs.

// parseWhere reads a filter of records (see package where); an empty text is none.
func parseWhere(text string) (workload.Filter, error) {
	if text == "" {
		return nil, nil
	}
	f, err := where.Parse(text)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// aboutWhere returns an error in a filter, which shows when a log is opened and its columns are
// known, as an error about the setting. Other errors stay.
func aboutWhere(err error) error {
	var wrong *expression.Error
	if errors.As(err, &wrong) {
		return &SettingError{"where", wrong}
	}
	return err
}
