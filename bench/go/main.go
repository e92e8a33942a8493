// The problems of the suite hybrid in Go: `go hybrid_<problem> [-threads N] [-quick] [-rounds-per-us X]`. Instances,
// shapes and output are those of bench/hybrid/<problem>/config.hpp.
package main

import (
	"os"
	"runtime"
)

var problems = map[string]func(options){
	"hybrid_busy":       measureBusy,
	"hybrid_echo":       measureEcho,
	"hybrid_hop":        measureHop,
	"hybrid_spawn_join": measureSpawnJoin,
	"hybrid_suspended":  measureSuspended,
	"hybrid_timers":     measureTimers,
	"hybrid_yield":      measureYield,
}

func main() {
	if len(os.Args) < 2 || problems[os.Args[1]] == nil {
		fail("unknown problem")
	}
	with := parse(os.Args[2:])
	runtime.GOMAXPROCS(with.threads)
	problems[os.Args[1]](with)
}
