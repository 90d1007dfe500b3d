package reproduce

import "strings"

// published holds figures as they are printed: for each series, or point, its
// figures in the order of the quantities, separated by blanks; "-" where there
// is none.
type published map[string]string

func (p published) at(name string, quantity int) string {
	figures := strings.Fields(p[name])
	if quantity >= len(figures) || figures[quantity] == "-" {
		return ""
	}
	return figures[quantity]
}
