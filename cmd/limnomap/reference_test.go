package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var updateReference = flag.Bool("update", false, "write the reference of all settings into docs/configuration.md")

// referenceMark is where the written part of the page ends.
const referenceMark = "<!-- Generated from the flags: go test ./cmd/limnomap -run TestConfigurationReference -update -->\n"

func TestConfigurationReference(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	written, before, ok := strings.Cut(string(page), referenceMark)
	if !ok {
		t.Fatalf("%s lacks the line %s", name, referenceMark)
	}
	made := reference(modelOf(t))
	if *updateReference {
		if err := os.WriteFile(name, []byte(written+referenceMark+made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if made != before {
		t.Errorf("%s is not what the flags say: look at what changes with\n\tgo test ./cmd/limnomap -run TestConfigurationReference -update", name)
	}
	for _, want := range []string{
		"`--api-rate` | `LIMNOMAP_API_RATE` | `300` | *reload* ", "`--db` | `LIMNOMAP_DB` | | *secret* ", "\n### limnomap import lakes\n", "\n### All commands\n",
	} {
		if !strings.Contains(made, want) {
			t.Errorf("the reference lacks %q", want)
		}
	}
}

// reference returns the tables of all settings, one for each command that has some.
func reference(app *kong.Application) string {
	var b strings.Builder
	var tables func(n *kong.Node)
	tables = func(n *kong.Node) {
		title := "limnomap " + sectionName(n)
		if n.Type == kong.ApplicationNode {
			title = "All commands"
		}
		var rows []string
		for _, f := range n.Flags {
			if f.Name != "help" && !f.Hidden {
				rows = append(rows, referenceRow(f))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n| flag | variable | default | |\n|---|---|---|---|\n%s", title, strings.Join(rows, ""))
		}
		for _, child := range n.Children {
			tables(child)
		}
	}
	tables(app.Node)
	return b.String()
}

var escaped = strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "_", `\_`, "\n", " ")

func referenceRow(f *kong.Flag) string {
	cells := []string{"`--" + f.Name + "`", "", "", ""}
	for i, name := range f.Envs {
		if i > 0 {
			cells[1] += ", "
		}
		cells[1] += "`" + name + "`"
	}
	if f.IsBool() && f.Default == "" {
		cells[2] = "`false`"
	} else if f.Default != "" {
		cells[2] = "`" + strings.ReplaceAll(f.Default, "|", `\|`) + "`"
	}
	var marks []string
	if f.Name != "config" {
		if f.Required {
			marks = append(marks, "*required*")
		}
		if isSecret(f) {
			marks = append(marks, "*secret*")
		}
		if f.Tag.Has("reload") {
			marks = append(marks, "*reload*")
		}
	}
	cells[3] = strings.Join(append(marks, escaped.Replace(f.Help)), " ")
	row := "|"
	for _, cell := range cells {
		if cell != "" {
			row += " " + cell
		}
		row += " |"
	}
	return row + "\n"
}

// What the page says of reloads is so: only the server has them, and of the flags that all commands have the level of its
// log.
func TestReloadedFlagsAreTheServers(t *testing.T) {
	reloaded := 0
	each(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) {
		if !f.Tag.Has("reload") {
			return
		}
		reloaded++
		if sectionName(n) != "serve" && f.Name != "log-level" {
			t.Errorf("limnomap %s --%s is marked as one that SIGHUP changes", sectionName(n), f.Name)
		}
	})
	if reloaded < 8 {
		t.Errorf("%d flags can be reloaded, want the limits and origins among them", reloaded)
	}
}

// A flag whose help speaks of a password is a secret, so that none is forgotten.
func TestSecretsAreMarked(t *testing.T) {
	each(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) {
		speaks := strings.Contains(strings.ToLower(f.Help), "password") || strings.Contains(strings.ToLower(f.Help), "no list of processes")
		if speaks && !isSecret(f) {
			t.Errorf("limnomap %s --%s: its help speaks of a password, and it is not marked as a secret", sectionName(n), f.Name)
		}
	})
}
