package main

import (
	"io"
	"net"
	"sync"
	"time"
)

const (
	connections  = 1000
	messageBytes = 64
)

type pair struct{ client, server net.Conn }

func connectPairs() []pair {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err.Error())
	}
	defer listener.Close()
	pairs := make([]pair, connections)
	for i := range pairs {
		client, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			fail(err.Error())
		}
		server, err := listener.Accept()
		if err != nil {
			fail(err.Error())
		}
		pairs[i] = pair{client, server}
	}
	return pairs
}

func serve(server net.Conn) {
	defer server.Close()
	var buffer [2 * messageBytes]byte
	for {
		size, err := server.Read(buffer[:])
		if err != nil {
			return
		}
		if _, err := server.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func request(client net.Conn, roundTripsMs []float64) {
	defer client.Close()
	var buffer [messageBytes]byte
	for i := range roundTripsMs {
		begin := time.Now()
		if _, err := client.Write(buffer[:]); err != nil {
			fail(err.Error())
		}
		if _, err := io.ReadFull(client, buffer[:]); err != nil {
			fail(err.Error())
		}
		roundTripsMs[i] = milliseconds(time.Since(begin))
	}
}

func measureEcho(with options) {
	requests := 100
	if with.quick {
		requests = 30
	}
	pairs := connectPairs()
	roundTripsMs := make([]float64, connections*requests)
	cpuBegin, begin := processCPU(), time.Now()
	var group sync.WaitGroup
	group.Add(connections)
	for i := range pairs {
		go serve(pairs[i].server)
		go func(i int) {
			defer group.Done()
			request(pairs[i].client, roundTripsMs[i*requests:(i+1)*requests])
		}(i)
	}
	group.Wait()
	wall, cpu := time.Since(begin), processCPU()-cpuBegin
	operations := float64(len(roundTripsMs))
	emit("rate", "K/s", operations/milliseconds(wall))
	emit("p50", "ms", quantile(roundTripsMs, 0.50))
	emit("p99", "ms", quantile(roundTripsMs, 0.99))
	emit("cpu", "us/op", float64(cpu)/operations/1e3)
}
