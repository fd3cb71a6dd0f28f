"""`dialmill completion`: shell completion, made of the commands' own options.

dialmill completion bash > ~/.local/share/bash-completion/completions/dialmill
dialmill completion zsh > "${fpath[1]}/_dialmill"
"""

from __future__ import annotations

import argparse
import importlib

from dialmill.pipelines.core.errors import DialmillError


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh", "fish"], help="the shell to complete in")


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    # The parser of all commands is main's, which loads this module.
    parser = importlib.import_module("dialmill.pipelines.cli.main").parser_of([], every=True)
    if options.shell == "fish":
        print(fish(parser))
        return 0
    try:
        import shtab
    except ImportError:
        raise DialmillError("completion needs shtab: pip install shtab") from None
    print(shtab.complete(parser, options.shell))
    return 0


def fish(parser: argparse.ArgumentParser) -> str:
    """The completions for fish, which shtab doesn't write."""
    lines = ["complete -c dialmill -f"]
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in commands._choices_actions}
    for name, of_command in commands.choices.items():
        lines.append(f"complete -c dialmill -n __fish_use_subcommand -a {name} -d {_quoted(about.get(name, ''))}")
        for action in of_command._actions:
            named = [f"-l {one[2:]}" for one in action.option_strings if one.startswith("--")]
            named += [f"-s {one[1:]}" for one in action.option_strings if one.startswith("-") and not one.startswith("--")]
            if named:
                takes = "" if action.nargs == 0 else " -r"
                choices = f" -a {_quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
                lines.append(
                    f"complete -c dialmill -n '__fish_seen_subcommand_from {name}' {' '.join(named)}{takes}{choices} -d {_quoted(action.help or '')}"
                )
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
