package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	threads     int
	quick       bool
	roundsPerUs float64
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, "bench:", what)
	os.Exit(1)
}

func parse(arguments []string) options {
	var with options
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&with.threads, "threads", 1, "")
	flags.BoolVar(&with.quick, "quick", false, "")
	flags.Float64Var(&with.roundsPerUs, "rounds-per-us", 400, "")
	_ = flags.Parse(arguments)
	return with
}

func emit(metric, unit string, samples ...float64) {
	texts := make([]string, len(samples))
	for i, sample := range samples {
		texts[i] = strconv.FormatFloat(sample, 'g', 6, 64)
	}
	fmt.Printf("{\"metric\":%q,\"unit\":%q,\"samples\":[%s]}\n", metric, unit, strings.Join(texts, ","))
}

// Nearest rank.
func quantile(values []float64, fraction float64) float64 {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	return sorted[int(math.Round(fraction*float64(len(sorted)-1)))]
}

// laps times the turns of a loop, `for laps.next() { ... }`: warms up for 30 ms, then counts for 60 ms (quick) or
// 120 ms.
type laps struct {
	measured, begin, lapBegin time.Duration
	samplesNs                 []float64
}

const warm = 30 * time.Millisecond

var started = time.Now()

func newLaps(with options) *laps {
	measured := 120 * time.Millisecond
	if with.quick {
		measured = 60 * time.Millisecond
	}
	return &laps{measured: measured, begin: time.Since(started)}
}

func (l *laps) next() bool {
	now := time.Since(started)
	if l.lapBegin != 0 && l.lapBegin-l.begin >= warm {
		l.samplesNs = append(l.samplesNs, float64(now-l.lapBegin))
	}
	enough := len(l.samplesNs) >= 3 && now-l.begin >= warm+l.measured
	l.lapBegin = time.Since(started)
	return !enough
}

// What one of the parts of a turn takes.
func (l *laps) report(parts int) {
	for i := range l.samplesNs {
		l.samplesNs[i] /= float64(parts)
	}
	emit("time", "ns", l.samplesNs...)
}

// The chain of xorshift steps of bench::spin.
func spin(rounds, seed uint64) uint64 {
	x := seed
	for i := uint64(0); i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func residentKB() float64 {
	rollup, _ := os.ReadFile("/proc/self/smaps_rollup")
	for _, line := range strings.Split(string(rollup), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Rss:" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			return kb
		}
	}
	return 0
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
