package simulation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPriceOfAFileOfPricesIsBounded(t *testing.T) {
	for price, usable := range map[string]bool{"0": true, "1e15": true, "1.000001e15": false, "-1": false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "domain.yaml")
		for name, text := range map[string]string{
			path:                             "generate: {count: 2}\ncycle: 600\nbatches: {}\nprices: prices.csv\n",
			filepath.Join(dir, "prices.csv"): "time,node,price\n5,1,2\n9,1," + price + "\n",
		} {
			require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		}
		_, err := ReadMachine(path, "domain", tables())
		if usable {
			require.NoError(t, err, price)
		} else {
			require.ErrorContains(t, err, "prices.csv: line 3: price: want a number of 0 or more, at most 1e+15", price)
		}
	}
}
