// Package python holds the tests of the Python package gridslot, which stands beside it in the
// folder gridslot, and of the shared library that it loads (library). docs/guides/other-languages.md is
// the page about it.
package python
