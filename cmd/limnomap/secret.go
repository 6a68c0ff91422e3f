package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// hidden stands for what is not shown of a secret. No URL can hold it as it is, so that nobody has it for a password.
const hidden = "<hidden>"

// openParameters are those of a database's URL that are no secrets. A link to a file may have its key in any of its own.
var openParameters = []string{"sslmode", "application_name", "connect_timeout", "search_path", "vfs", "nolock", "psow"}

// shown returns a text of a flag's value without what must not be shown of it.
func shown(flag *kong.Flag, text string) string {
	if !isSecret(flag) && !strings.Contains(text, "@") { // the key of a basemap is in every page
		return text
	}
	return hide(text)
}

// hide returns text without the passwords, tokens and keys that a URL may hold. It rather hides too much.
func hide(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		if strings.Contains(strings.ToLower(text), "password") {
			return hidden // as in a connection string of another form
		}
		return text
	}
	address, query, queried := strings.Cut(rest, "?")
	if strings.Contains(query, "@") { // of a password with a question mark, or of a parameter
		return scheme + "://" + hidden
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 {
		user, _, password := strings.Cut(address[:i], ":")
		if password {
			user += ":" + hidden
		} else if strings.HasPrefix(strings.ToLower(scheme), "http") {
			user = hidden // a token may stand in the user's place
		}
		address = user + address[i:]
	}
	if !queried {
		return scheme + "://" + address
	}
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if name, _, valued := strings.Cut(p, "="); !slices.Contains(openParameters, name) {
			parameters[i] = hidden
			if valued {
				parameters[i] = name + "=" + hidden
			}
		}
	}
	return scheme + "://" + address + "?" + strings.Join(parameters, "&")
}

// checkHidden returns an error if a flag's value is one that was hidden: what limnomap config prints is taken again but
// for the secrets.
func checkHidden(ctx *kong.Context) error {
	for _, flag := range ctx.Flags() {
		texts, _, err := valuesOf(flag)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if strings.Contains(text, hidden) {
				return fmt.Errorf("--%s: %s stands for a secret that was not shown: write the secret itself", flag.Name, hidden)
			}
		}
	}
	return nil
}
