package app

import (
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
)

// startedApps are the apps between Start and Stop, for the admin API. The last one
// is in effect: when a reload fails half way, that is the one before again.
var startedApps appList

// InForce returns the app of the current configuration; nil: none has started.
func InForce() *App { return startedApps.current() }

type appList struct {
	mu        sync.Mutex
	apps      []*App
	lastAdded *App // that was added
}

func (l *appList) add(a *App) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps, l.lastAdded = append(l.apps, a), a
}

func (l *appList) remove(a *App) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps = slices.DeleteFunc(l.apps, func(other *App) bool { return other == a })
}

// current returns the current app, or nil.
func (l *appList) current() *App {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.apps) == 0 {
		return nil
	}
	return l.apps[len(l.apps)-1]
}

// currentOrDraining returns the current app, or, while the process ends, the one that drains.
func (l *appList) currentOrDraining() *App {
	if a := l.current(); a != nil || !caddy.Exiting() {
		return a
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastAdded
}
