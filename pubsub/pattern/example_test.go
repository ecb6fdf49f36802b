package pattern_test

import (
	"fmt"

	"github.com/millrace/millrace/pubsub/pattern"
)

// A hub asks the tree who wants a message.
func ExampleTree() {
	var subscribers pattern.Tree[string]
	for text, who := range map[string]string{
		"chat.room7":  "Ann",
		"chat.room*":  "Bob",
		"chat.#":      "Cid",
		"chat.room.>": "Dan",
	} {
		p, err := pattern.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		subscribers.Insert(p, who)
	}
	for _, who := range subscribers.AppendMatches(nil, []byte("chat.room7")) {
		fmt.Println(who)
	}
	// Unordered output:
	// Ann
	// Bob
	// Cid
}

// A token's rule decides about subscriptions by containment.
func ExampleRule_Contains() {
	rule, err := pattern.ParseRule("chat.(eu|us).?.#", pattern.SubscribeRule)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"chat.eu.room7", "chat.us.room7.>", "chat.eu.*", "chat.#"} {
		p, err := pattern.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text, rule.Contains(p))
	}
	// Output:
	// chat.eu.room7 true
	// chat.us.room7.> true
	// chat.eu.* false
	// chat.# false
}

func ExampleParse() {
	_, err := pattern.Parse("chat.#.room7")
	fmt.Println(err)
	// Output:
	// pattern syntax error at byte 5: `>` and `#` are legal only as the last byte of the last token
}
