// Command load asks one HTTP/3 server for a page again and again, so many requests at a time over so many connections, for
// a while, and prints what came as one line of JSON. Not for response times: client and server share a machine.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

type result struct {
	Answered int64   `json:"answered_count"`
	Failed   int64   `json:"failed_count"`
	Bytes    int64   `json:"body_bytes"`
	Failure  string  `json:"failure"`
	Seconds  float64 `json:"run_s"`
}

func main() {
	url := flag.String("url", "", "page")
	address := flag.String("address", "", "where the server is, ADDRESS:PORT")
	ca := flag.String("ca", "", "authority that vouches for its certificate (PEM)")
	connections := flag.Int("connections", 10, "connections")
	outstanding := flag.Int("outstanding", 100, "requests without an answer at any moment")
	duration := flag.Duration("duration", 2*time.Second, "how long")
	flag.Parse()
	total, err := run(*url, *address, *ca, *connections, *outstanding, *duration)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(total)
}

func run(url, address, ca string, connections, outstanding int, duration time.Duration) (*result, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	clients := make([]*http.Client, connections)
	for i := range clients {
		transport := &http3.Transport{
			TLSClientConfig:    &tls.Config{RootCAs: roots},
			DisableCompression: true,
			Dial: func(ctx context.Context, _ string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
				return quic.DialAddrEarly(ctx, address, config, settings)
			},
		}
		defer transport.Close()
		clients[i] = &http.Client{Transport: transport}
		// the handshakes are not what is measured
		if _, err := get(clients[i], url); err != nil {
			return nil, err
		}
	}
	return load(clients, url, outstanding, duration), nil
}

func load(clients []*http.Client, url string, outstanding int, duration time.Duration) *result {
	var total result
	var first sync.Once
	var group sync.WaitGroup
	began := time.Now()
	for i := range outstanding {
		group.Go(func() {
			for time.Since(began) < duration {
				bytes, err := get(clients[i%len(clients)], url)
				if err != nil {
					atomic.AddInt64(&total.Failed, 1)
					first.Do(func() { total.Failure = err.Error() })
					return
				}
				atomic.AddInt64(&total.Answered, 1)
				atomic.AddInt64(&total.Bytes, bytes)
			}
		})
	}
	group.Wait()
	total.Seconds = time.Since(began).Seconds()
	return &total
}

func get(client *http.Client, url string) (int64, error) {
	response, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 3 {
		return 0, fmt.Errorf("status %s over %s", response.Status, response.Proto)
	}
	return io.Copy(io.Discard, response.Body)
}
