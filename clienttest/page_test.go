package clienttest_test

import (
	"testing"

	"github.com/millrace/millrace/clienttest"
)

func TestNews(t *testing.T) {
	edge := clienttest.Start(t)
	reader, writer := edge.Client(), edge.Client()
	news, err := reader.Subscribe(t.Context(), clienttest.Tenant, "news.#")
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Publish(t.Context(), clienttest.Tenant, "news.today", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-news.Messages(); string(m.Payload) != "hello" {
		t.Errorf("got %q", m.Payload)
	}
}
