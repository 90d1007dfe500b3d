package simulation

import (
	"errors"

	"github.com/gridslot/gridslot/internal/expression"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/where"
)

// This file is about filters of logs.

// parseWhere reads a filter of records (see package where); "" is none.
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

// aboutWhere is an error in a filter that has shown when the log was opened as one about the setting.
func aboutWhere(err error) error {
	var wrong *expression.Error
	if errors.As(err, &wrong) {
		return &SettingError{"where", wrong}
	}
	return err
}
