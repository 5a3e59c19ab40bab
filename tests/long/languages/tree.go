// SPDX-License-Identifier: MIT
// The call tree of tests/progs/calls.c in Go: alpha is a method behind an interface, beta gets a
// closure. The work is done by turns in the main goroutine and in others. Usage: tree SECONDS of
// elapsed time.
package main

import (
	"os"
	"strconv"
	"time"
)

const unit = 20000

type part interface{ alpha() }

type own struct{}

// One loop for all, so that each round takes equally long; it counts for the caller.
//
//go:noinline
func spin(rounds int) {
	for ; rounds > 0; rounds-- {
	}
}

//go:noinline
func (*own) alpha() {
	shared(10)
	spin(10 * unit)
}

//go:noinline
func shared(percent int) { spin(percent * unit) }

//go:noinline
func beta(call func(int)) {
	spin(20 * unit)
	call(20)
}

//go:noinline
func recurse(levels int) {
	spin(10 * unit)
	if levels > 1 {
		recurse(levels - 1)
	}
}

//go:noinline
func work(p part) {
	p.alpha()
	beta(func(percent int) { shared(percent) })
	recurse(4)
}

// At most as long as work(), and never the same: the clock of the ticks keeps no step with the rounds.
func rest(random *uint64) {
	*random = *random*6364136223846793005 + 1442695040888963407
	spin(int(*random >> 33 % (100 * unit)))
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	var p part = &own{}
	done := make(chan bool)
	random := uint64(1)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for time.Now().Before(end) {
		work(p)
		go func() {
			work(p)
			done <- true
		}()
		<-done
		rest(&random)
	}
}
