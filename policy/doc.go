// Package policy names the policies: a table from a name, with parameters, to
// what a user's command runs. The policies themselves live in the packages
// below it.
package policy
