package config

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// Args returns the command line, to parse it again: the files that it names may have changed.
func (inv *Invocation) Args() []string { return inv.args }

// Keep gives the flags of inv that cannot change in a running server their values of before. It returns the names of the
// flags that differ: those that change, and those that were kept.
func (inv *Invocation) Keep(before *Invocation) (changed, kept []string) {
	old := make(map[string]*kong.Flag)
	for _, flag := range before.Command.Flags() {
		old[flag.Name] = flag
	}
	for _, flag := range inv.Command.Flags() {
		if !isSetting(flag) {
			continue
		}
		switch {
		case reflect.DeepEqual(old[flag.Name].Target.Interface(), flag.Target.Interface()):
		case isReloadable(flag):
			changed = append(changed, flag.Name)
		default:
			kept = append(kept, flag.Name)
			flag.Target.Set(old[flag.Name].Target)
		}
	}
	return changed, kept
}
