package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/config"
)

var updateReference = flag.Bool("update", false, "write the reference of all settings into docs/configuration.md")

// referenceMark ends the hand-written part of the page.
const referenceMark = "<!-- Generated from the flags: go test ./cmd/limnomap -run TestConfigurationReference -update -->\n"

func TestConfigurationReference(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(name)
	mustDo(t, err)
	written, before, ok := strings.Cut(string(page), referenceMark)
	if !ok {
		t.Fatalf("%s lacks the line %s", name, referenceMark)
	}
	made := reference(modelOf(t))
	if *updateReference {
		mustDo(t, os.WriteFile(name, []byte(written+referenceMark+made), 0o644))
		return
	}
	if made != before {
		t.Errorf("%s does not match the flags: update it with\n\tgo test ./cmd/limnomap -run TestConfigurationReference -update", name)
	}
	for _, want := range []string{
		"`--api-rate` | `LIMNOMAP_API_RATE` | `300` | *reload* ", "`--db` | `LIMNOMAP_DB` | | *secret* ", "\n### limnomap import lakes\n", "\n### All commands\n",
	} {
		if !strings.Contains(made, want) {
			t.Errorf("the reference lacks %q", want)
		}
	}
}

// reference returns the tables of all settings, one for each command with flags.
func reference(app *kong.Application) string {
	var b strings.Builder
	var tables func(n *kong.Node)
	tables = func(n *kong.Node) {
		title := "limnomap " + config.CommandName(n)
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
	source, err := kong.New(new(refreshSource), kong.NoDefaultHelp(), vars())
	if err != nil {
		panic(err)
	}
	b.WriteString("\n### Sources of a refresh\n\nSettings of an item of the list `refresh` in a file:\n\n| key | default | |\n|---|---|---|\n")
	for _, f := range source.Model.Flags {
		cells := strings.Split(referenceRow(f), "|")
		fmt.Fprintf(&b, "|%s|%s|%s|\n", strings.Replace(cells[1], "--", "", 1), cells[3], strings.Join(cells[4:len(cells)-1], "|"))
	}
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
		if config.IsSecret(f) {
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

// Only flags of serve can be reloaded, and the log level, which all commands have.
func TestOnlyServeReloads(t *testing.T) {
	reloaded := 0
	config.EachFlag(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) {
		if !f.Tag.Has("reload") {
			return
		}
		reloaded++
		if config.CommandName(n) != "serve" && f.Name != "log-level" {
			t.Errorf("limnomap %s --%s has the tag reload", config.CommandName(n), f.Name)
		}
	})
	if reloaded < 8 {
		t.Errorf("%d flags can be reloaded, want at least the limits and origins", reloaded)
	}
}

// A flag whose help mentions a password has the tag secret.
func TestSecretsAreMarked(t *testing.T) {
	config.EachFlag(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) {
		mentioned := strings.Contains(strings.ToLower(f.Help), "password") || strings.Contains(f.Help, "visible to other users")
		if mentioned && !config.IsSecret(f) {
			t.Errorf("limnomap %s --%s: its help mentions a password, but it is not a secret", config.CommandName(n), f.Name)
		}
	})
}
