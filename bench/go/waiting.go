package main

import (
	"sync"
	"time"
)

func measureTimers(with options) {
	const goroutines, length = 100_000, 10 * time.Millisecond
	lateMs := make([]float64, goroutines)
	cpuBegin, begin := processCPU(), time.Now()
	var group sync.WaitGroup
	group.Add(goroutines)
	for i := range lateMs {
		go func(lateMs *float64) {
			defer group.Done()
			begin := time.Now()
			time.Sleep(length)
			*lateMs = milliseconds(time.Since(begin) - length)
		}(&lateMs[i])
	}
	group.Wait()
	wall, cpu := time.Since(begin), processCPU()-cpuBegin
	emit("time", "ms", milliseconds(wall))
	emit("cpu", "ms", milliseconds(cpu))
	emit("late_p50", "ms", quantile(lateMs, 0.50))
	emit("late_p99", "ms", quantile(lateMs, 0.99))
}

func measureSuspended(with options) {
	goroutines := 1_000_000
	if with.quick {
		goroutines = 200_000
	}
	event := make(chan struct{})
	var waiting, ended sync.WaitGroup
	waiting.Add(goroutines)
	ended.Add(goroutines)
	beforeKB := residentKB()
	for i := 0; i < goroutines; i++ {
		go func() {
			waiting.Done()
			<-event
			ended.Done()
		}()
	}
	waiting.Wait()
	grownKB := residentKB() - beforeKB
	begin := time.Now()
	close(event)
	ended.Wait()
	emit("memory", "B", grownKB*1024/float64(goroutines))
	emit("wake", "ms", milliseconds(time.Since(begin)))
}

func measureBusy(with options) {
	rounds := uint64(with.roundsPerUs * 1000)
	run := func(count int) {
		var group sync.WaitGroup
		group.Add(count)
		for i := 0; i < count; i++ {
			go func(seed uint64) {
				defer group.Done()
				if spin(rounds, seed) == 0 {
					fail("hybrid_busy: xorshift never gets to zero")
				}
			}(uint64(i) + 1)
		}
		group.Wait()
	}
	run(20)
	count := 1000
	if with.quick {
		count = 200
	}
	cpuBegin, begin := processCPU(), time.Now()
	run(count)
	wall, cpu := time.Since(begin), processCPU()-cpuBegin
	emit("utilisation", "%", 100*float64(cpu)/(float64(with.threads)*float64(wall)))
	emit("time", "ms", milliseconds(wall))
}
