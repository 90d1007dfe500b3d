package scenario

import (
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/entity/expression"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/where"
)

// This file is about filters of logs.

var whereSetting = setting{
	"where", "workload",
	func(sc *Scenario) string {
		if sc.Workload.Options.Where == nil {
			return ""
		}
		return fmt.Sprint(sc.Workload.Options.Where)
	},
	func(sc *Scenario, text string) (err error) {
		sc.Workload.Options.Where, err = ParseWhere(text)
		return err
	},
}

// ParseWhere reads a filter of records (see package where); "" is none.
func ParseWhere(text string) (workload.Filter, error) {
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
