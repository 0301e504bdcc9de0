/**
 * The completion scripts of the shells. All they know is how to ask `stci complete`, or `finject complete`, and how
 * their shell is told the answer. What comes back is text that they never evaluate: each line is a word, or one of a
 * few directions. `$` and backquotes in it are shown, and quoted where they are put into the command line.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** `programs`: where stci lies; that of PATH is asked where nothing is there any more. */
export function completionScript(shell: Shell, programs: string): string {
  return SCRIPTS[shell].replaceAll('@PROGRAMS@', () => quoted(programs));
}

/** A word in single quotes, as all three shells read it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const BASH = `# Completion of stcirun, stci, stci-client and finject for bash; made by: stci completion bash

_stci_ask() {
  local stci=stci
  [[ $1 == finject ]] && stci=finject
  [[ -x @PROGRAMS@/$stci ]] && stci=@PROGRAMS@/$stci
  command "$stci" complete "\${@:2}" </dev/null 2>/dev/null
}

# What compgen lists: its words, without the first characters, which bash does not replace.
_stci_list() {
  local kept=$1 found
  while IFS= read -r found; do
    COMPREPLY+=("\${found:kept}")
  done < <(compgen "\${@:2}")
}

_stci() {
  local line word
  COMPREPLY=()
  while IFS= read -r line; do
    word=\${line#:* * }
    line=\${line% "$word"}
    case $line in
      ':nospace') compopt -o nospace 2>/dev/null ;;
      ':command '*) _stci_command "\${line#* }" "$word" ;;
      ':files '*)
        compopt -o filenames 2>/dev/null
        _stci_list "\${line#* }" -f -- "$word" ;;
      ':directories '*)
        compopt -o filenames 2>/dev/null
        _stci_list "\${line#* }" -d -- "$word" ;;
      ':experiments '*)
        compopt -o filenames 2>/dev/null
        _stci_list "\${line#* }" -d -- "$word"
        _stci_list "\${line#* }" -f -X '!*.yaml' -- "$word"
        _stci_list "\${line#* }" -f -X '!*.yml' -- "$word" ;;
      :*) ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <(_stci_ask "\${1##*/}" --bash "$COMP_LINE" "$COMP_POINT" "$COMP_WORDBREAKS")
}

# The program that stcirun is to run, from this character of the line on, and its arguments.
_stci_command() {
  local from=$1 word=$2 rest=$COMP_LINE first
  # bash's own words: of one with ':' or '=' it makes several.
  for (( first = 0; first < COMP_CWORD; first++ )); do
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    (( \${#COMP_LINE} - \${#rest} >= from )) && break
    rest=\${rest#"\${COMP_WORDS[first]}"}
  done
  if declare -F _command_offset >/dev/null; then
    _command_offset "$first"
  elif (( first == COMP_CWORD )) && [[ $word != */* ]]; then
    _stci_list 0 -c -- "$word"
  else
    compopt -o filenames 2>/dev/null
    _stci_list 0 -f -- "$word"
  fi
}

complete -F _stci stcirun stci stci-client finject
`;

const ZSH = `#compdef stcirun stci stci-client finject
# Completion of stcirun, stci, stci-client and finject for zsh; made by: stci completion zsh

_stci() {
  local stci=stci line
  local -a texts shown behind
  [[ \${words[1]:t} == finject ]] && stci=finject
  [[ -x @PROGRAMS@/$stci ]] && stci=@PROGRAMS@/$stci
  local -a given=("\${(@Q)words[1,CURRENT-1]}" "\${(Q)PREFIX}")
  while IFS= read -r line; do
    case $line in
      (':nospace') behind=(-S '') ;;
      (':command '*)
        shift "\${line#* }" words
        (( CURRENT -= \${line#* } ))
        _normal
        return ;;
      (:files|:directories|:experiments)
        [[ $PREFIX == -*=* ]] && compset -P '*='
        compset -P '(text|json):'
        case $line in
          (:files) _files ;;
          (:directories) _files -/ ;;
          (:experiments) _files -g '*.(yaml|yml)' ;;
        esac
        return ;;
      (:*) ;;
      (*)
        texts+=("\${line%%$'\\t'*}")
        shown+=("\${line/$'\\t'/  -- }") ;;
    esac
  done < <(command "$stci" complete -- "\${given[@]}" </dev/null 2>/dev/null)
  (( $#texts )) && compadd "\${behind[@]}" -l -d shown -- "\${texts[@]}"
}

if [[ \${funcstack[1]} == _stci ]]; then
  _stci "$@"
else
  compdef _stci stcirun stci stci-client finject
fi
`;

const FISH = `# Completion of stcirun, stci, stci-client and finject for fish; made by: stci completion fish

function __stci_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l stci stci
    string match -q -- '*finject' $before[1]; and set stci finject
    test -x @PROGRAMS@/$stci; and set stci @PROGRAMS@/$stci
    for line in (command $stci complete -- $before "$current" </dev/null 2>/dev/null)
        switch $line
            case ':command *'
                set -l first (math (string replace ':command ' '' -- $line) + 1)
                complete -C (string join ' ' -- (string escape -- $before[$first..-1]) $current)
            case ':files' ':experiments'
                __fish_complete_path (string replace -r -- '^-[^=]*=' '' $current)
            case ':directories'
                __fish_complete_directories (string replace -r -- '^-[^=]*=' '' $current)
            case ':*'
            case '*'
                printf '%s\\n' $line
        end
    end
end

complete -c stcirun -f -a '(__stci_complete)'
complete -c stci -f -a '(__stci_complete)'
complete -c stci-client -f -a '(__stci_complete)'
complete -c finject -f -a '(__stci_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
