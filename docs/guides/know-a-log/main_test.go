package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
)

func call(args ...string) (stdout, stderr string) {
	var out, told bytes.Buffer
	cli.Run(context.Background(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told})
	return out.String(), told.String()
}

func Example() {
	main()
	// Output:
	// median runtime 95 s and 95 s
	// size             ks 0.012, w1/mean 0.035
	// runtime          ks 0.020, w1/mean 0.055
	// gap              ks 0.019, w1/mean 0.304
	// estimate         ks 0.012, w1/mean 0.010
	// runtime/estimate ks 0.017, w1/mean 0.045
	// hour             ks 0.060, w1/mean 0.043
	// jobs of a user   ks 0.100, w1/mean 0.078
}

func Example_info() {
	stdout, stderr := call("trace", "info")
	fmt.Print(stdout, stderr)
	// Output:
	// trace             sample.swf.gz
	// sha256            390dabf2ac4d23b9178f25e45d25deafbf2166ed9bc91662f8b9281b0ca0f53d
	// computer          none: a generated sample of gridslot
	// processors        128
	// jobs              5000 of 5000 lines
	// users             40
	// submissions       67 s to 2116530 s (24.5 days)
	// offered load      0.699
	// size              mean 6.8, largest 64 processors
	// runtime           mean 3962 s, longest 64800 s
	// runtime/estimate  mean 0.157
	//
	// 5000 lines, 5000 jobs
	//
	//                             jobs  mean    deviation  5%         25%    median   75%     95%     99%     greatest
	// size, processors            5000  6.785   10.2       1          2      4        8       32      64      64
	// runtime, s                  5000  3962    7484       4          18.75  95       6112    19083   33020   64800
	// estimate, s                 5000  24449   26204      300        1200   11940    54000   64800   64800   64800
	// runtime/estimate            5000  0.1566  0.2264     0.0002449  0.005  0.04332  0.2211  0.6916  0.9467  1
	// gap between submissions, s  4999  423.4   2887       5          17     47       154     1114    6401    79756
	//
	// sizes              24.0% of one processor, of the others 84.8% powers of two; 0 take the whole machine
	// size and runtime   correlation 0.14, of their logarithms 0.12
	// estimates          59 different ones, 0 jobs without; 0.1% of jobs end at the limit or up to a minute later, 0.0% later
	// popular estimates  64800 s 21.7%, 1800 s 10.3%, 900 s 8.7%, 300 s 7.4%, 600 s 6.2%, 1200 s 5.3%, 3600 s 4.5%, 18000 s 3.9%, 10800 s 3.3%, 21600 s 2.8%
	// users              40; number 1 has 17.3% of the jobs, 7 have half of them
	// groups             6; number 2 has 27.4% of the jobs, 3 have half of them
	// queues             2; number 1 (longer) has 56.8% of the jobs, 1 have half of them
	// statuses           completed 100.0%
	// repeated jobs      1.3% are as the one before of their user; at most 3 in a row, of user 14
	// dependencies       3038 jobs (60.8%) come after another; median think time 150 s
	//
	// runtime/estimate  to 10%  to 20%  to 30%  to 40%  to 50%  to 60%  to 70%  to 80%  to 90%  90% on
	// jobs, %           60.1    13.0    8.5     4.8     3.4     2.8     2.5     1.6     1.5     1.7
	//
	// hour, UTC  0    1    2    3    4    5    6    7    8    9    10   11
	// jobs, %    1.1  1.2  1.6  1.5  0.8  0.5  1.5  1.6  3.5  4.6  6.2  6.5
	//
	// hour, UTC  12   13   14   15   16   17   18   19   20   21   22   23
	// jobs, %    8.9  7.4  6.7  7.1  7.9  8.2  7.5  4.5  3.1  2.8  3.2  2.0
	//
	// day      Su    Mo    Tu    We    Th    Fr   Sa
	// jobs, %  10.6  21.5  16.9  14.2  14.4  9.3  13.0
	//
	// offered load by week  0.76  0.75  0.67  0.54
	//
	// nothing odd was found
}

// withKTH is what the page says of a model and a log.
const withKTH = `
                                 model.swf             KTH-SP2-1996-2.1-cln.swf.gz
jobs                             28000 of 28000 lines  28475 of 28476 lines
processors                       100                   100
days                             245.5                 332.9
offered load                     0.733                 0.699
of one processor                 24.5%                 32.9%
powers of two, of the others     83.8%                 61.5%
correlation of size and runtime  0.117                 0.010
correlation of their logarithms  0.114                 0.033
users                            -                     214
repeated jobs                    -                     47.0%

                  mean A  mean B  median A  median B  95% A   95% B   ks     w1      w1/mean
size, processors  9.732   7.65    4         3         47      32      0.121  2.234   0.292
runtime, s        4204    8872    97        847       19613   47826   0.184  4668    0.526
gap, s            757.5   1010    100       193       2159    3788    0.157  499.6   0.495
estimate, s       51851   13663   14400     4200      157080  53100   0.313  38928   2.849
runtime/estimate  0.1357  0.4785  0.0394    0.4131    0.6822  0.9992  0.434  0.3428  0.716
hour, h           13.49   13.49   14        14        22      21      0.053  0.5444  0.040
`

func TestAModelBesideALogIsAsThePageSays(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES does not name a folder of logs")
	}
	model := filepath.Join(t.TempDir(), "model.swf")
	_, stderr := call("trace", "convert", "lublin:jobs=28000:procs=100:load=0.7", model, "--estimates", "tsafrir")
	require.Empty(t, stderr)
	stdout, stderr := call("trace", "info", model, filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz"))
	require.Empty(t, stderr)
	require.Equal(t, strings.TrimSpace(withKTH), strings.TrimSpace(stdout[:strings.Index(stdout, "\n\nKTH")]))
}
