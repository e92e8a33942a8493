package main

import (
	"runtime"
	"sync"
)

func measureSpawnJoin(with options) {
	const instances = 1000
	laps := newLaps(with)
	for laps.next() {
		var group sync.WaitGroup
		group.Add(instances)
		for i := 0; i < instances; i++ {
			go group.Done()
		}
		group.Wait()
	}
	laps.report(instances)
}

func measureYield(with options) {
	const yields = 10_000
	laps := newLaps(with)
	for laps.next() {
		for i := 0; i < yields; i++ {
			runtime.Gosched()
		}
	}
	laps.report(yields)
}

func measureHop(with options) {
	const messages = 10_000
	laps := newLaps(with)
	there, back := make(chan int, 1), make(chan int, 1)
	go func() {
		for got := range there {
			back <- got + 1
		}
	}()
	for laps.next() {
		for i := 0; i < messages; i += 2 {
			there <- i
			if <-back != i+1 {
				fail("hybrid_hop: wrong message")
			}
		}
	}
	close(there)
	laps.report(messages)
}
