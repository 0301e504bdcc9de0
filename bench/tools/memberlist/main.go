// A member of a SWIM group: joins, and prints what it learns with the time of the monotonic clock, which all processes
// of a machine share: `members N`, then `left NAME NANOSECONDS`. Ends when its standard input does.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"time"
	"unsafe"

	"syscall"

	"github.com/hashicorp/memberlist"
)

const clockMonotonic = 1

func nowNs() int64 {
	var at syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&at)), 0)
	return at.Nano()
}

type events struct{}

func (events) NotifyJoin(node *memberlist.Node)   { fmt.Println("joined", node.Name) }
func (events) NotifyUpdate(node *memberlist.Node) {}
func (events) NotifyLeave(node *memberlist.Node)  { fmt.Println("left", node.Name, nowNs()) }

func main() {
	port, _ := strconv.Atoi(os.Args[2])
	periodMs, _ := strconv.Atoi(os.Args[4])
	config := memberlist.DefaultLANConfig()
	config.Name = os.Args[1]
	config.BindAddr = "127.0.0.1"
	config.AdvertiseAddr = "127.0.0.1"
	config.BindPort, config.AdvertisePort = port, port
	config.Events = events{}
	config.LogOutput = io.Discard
	if periodMs > 0 {
		// Its other intervals stay in the proportion of its defaults.
		scale := time.Duration(periodMs) * time.Millisecond
		config.ProbeTimeout = config.ProbeTimeout * scale / config.ProbeInterval
		config.GossipInterval = config.GossipInterval * scale / config.ProbeInterval
		config.ProbeInterval = scale
	}
	list, err := memberlist.Create(config)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = list.Join([]string{"127.0.0.1:" + os.Args[3]}); err != nil {
		log.Fatal(err)
	}
	io.Copy(io.Discard, os.Stdin)
}
