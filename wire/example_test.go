package wire_test

import (
	"errors"
	"fmt"

	"github.com/millrace/millrace/wire"
)

func ExampleDecodePublish() {
	frame := wire.AppendPublish(nil, wire.Publish{
		Tenant:  []byte("paint.eu"),
		Channel: []byte("chat.room"),
		Payload: []byte("hello"),
	})
	p, err := wire.DecodePublish(frame)
	fmt.Printf("%s %s %s %s %v\n", p.Delivery, p.Tenant, p.Channel, p.Payload, err)

	_, err = wire.DecodePublish([]byte(`{"tenant":"paint.eu"}`))
	fmt.Println(errors.Is(err, wire.ErrBadFrame))
	// Output:
	// broadcast paint.eu chat.room hello <nil>
	// true
}

func ExampleParseLine() {
	line, err := wire.ParseLine([]byte("SUB::chat.*\r\n"))
	fmt.Printf("%s %s %s %v\n", line.Verb, line.Tenant, line.Pattern, err)
	fmt.Printf("%s\n", wire.AppendOK(nil, line.Verb, string(line.Tenant), string(line.Pattern)))
	// Output:
	// SUB ~ chat.* <nil>
	// OK:SUB:~:chat.*
}
