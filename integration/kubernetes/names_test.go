package kubernetes

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// domain is that of the names under which clients reach edges.
const domain = "edges.test."

// names is the DNS of the cluster and of clients. It knows the names of pods of a headless
// service, as CoreDNS does. And in place of a load balancer it answers the name of an edge with
// the address of its pod, while that is ready.
type names struct {
	mu     sync.Mutex
	slices map[string]slice // by name
}

// slice is an EndpointSlice.
type slice struct {
	Endpoints []struct {
		Addresses  []string
		Hostname   string
		Conditions struct{ Ready bool }
	}
	service string
}

func (c *cluster) serveNames() {
	c.Helper()
	n := &names{slices: map[string]slice{}}
	packets, err := net.ListenPacket("udp", "10.90.0.1:53")
	must(c.T, err)
	server := &dns.Server{PacketConn: packets, Handler: n}
	var work sync.WaitGroup
	work.Go(func() { _ = server.ActivateAndServe() }) // until the shutdown
	work.Go(func() {
		for c.Context().Err() == nil {
			n.watch(c)
			time.Sleep(100 * time.Millisecond) // the API server ends watches
		}
	})
	c.Cleanup(func() { // the context of the test has ended
		_ = server.Shutdown()
		work.Wait()
	})
}

// watch follows the addresses of services until the API server ends the answer.
func (n *names) watch(c *cluster) {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, apiserver+"/apis/discovery.k8s.io/v1/namespaces/"+namespace+"/endpointslices?watch=1", nil)
	if err != nil {
		c.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer token-admin")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	for events := json.NewDecoder(answer.Body); ; {
		var event struct {
			Type   string
			Object struct {
				slice
				Metadata struct {
					Name   string
					Labels map[string]string
				}
			}
		}
		if events.Decode(&event) != nil {
			return
		}
		s, meta := event.Object.slice, event.Object.Metadata
		s.service = meta.Labels["kubernetes.io/service-name"]
		n.mu.Lock()
		if n.slices[meta.Name] = s; event.Type == "DELETED" {
			delete(n.slices, meta.Name)
		}
		n.mu.Unlock()
	}
}

// lookUp returns the addresses of a name.
func (n *names) lookUp(name string) (addresses []string) {
	service, ok := strings.CutSuffix(name, "."+domain)
	if !ok {
		service, _ = strings.CutSuffix(name, "."+namespace+".svc.cluster.local.")
	}
	host := ""
	if first, rest, ok := strings.Cut(service, "."); ok {
		host, service = first, rest
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.slices {
		for _, e := range s.Endpoints {
			if s.service == service && (host == "" || e.Hostname == host) && e.Conditions.Ready {
				addresses = append(addresses, e.Addresses...)
			}
		}
	}
	return addresses
}

func (n *names) ServeDNS(w dns.ResponseWriter, request *dns.Msg) {
	answer := new(dns.Msg).SetReply(request)
	question := request.Question[0]
	addresses := n.lookUp(strings.ToLower(question.Name))
	if len(addresses) == 0 {
		answer.Rcode = dns.RcodeNameError
	}
	for _, address := range addresses {
		if ip := net.ParseIP(address).To4(); question.Qtype == dns.TypeA && ip != nil {
			header := dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 5}
			answer.Answer = append(answer.Answer, &dns.A{Hdr: header, A: ip})
		}
	}
	_ = w.WriteMsg(answer) // who asked asks again
}
