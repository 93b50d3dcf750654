import { expect, test } from 'vitest'
import { isTerminalReplies } from './terminal-replies.ts'

const ESC = '\x1b'
const ST = `${ESC}\\`
const BEL = '\x07'

const replies: [what: string, text: string][] = [
  ['primary device attributes', `${ESC}[?62;4;22c`],
  ['primary device attributes of a VT100', `${ESC}[?1;2c`],
  ['primary device attributes, one number', `${ESC}[?6c`],
  ['secondary device attributes', `${ESC}[>0;276;0c`],
  ['secondary device attributes of a build by its date', `${ESC}[>65;20240101;1c`],
  ['tertiary device attributes', `${ESC}P!|7E565445${ST}`],
  ['tertiary device attributes, empty', `${ESC}P!|${ST}`],
  ['the place of the cursor', `${ESC}[24;80R`],
  ['the place of the cursor with the page', `${ESC}[?24;80;1R`],
  ['the place of the cursor, extended', `${ESC}[?24;80R`],
  ['a colour of the palette', `${ESC}]4;1;rgb:cdcd/0000/0000${ST}`],
  ['a colour of the palette, ended by a bell', `${ESC}]4;255;rgb:ee/ee/ee${BEL}`],
  ['several colours of the palette', `${ESC}]4;0;rgb:0/0/0;1;rgb:f/f/f${ST}`],
  ['the colour of text', `${ESC}]10;rgb:ffff/ffff/ffff${ST}`],
  ['the colour of the background', `${ESC}]11;rgb:0000/0000/0000${BEL}`],
  ['the colour of the background with its alpha', `${ESC}]11;rgba:0000/0000/0000/ffff${ST}`],
  ['the colour of the cursor', `${ESC}]12;rgb:1234/5678/9abc${ST}`],
  ['a name and a version', `${ESC}P>|XTerm(390)${ST}`],
  ['a name and a version with a space', `${ESC}P>|tmux 3.4${ST}`],
  ['a name and a version with dashes', `${ESC}P>|WezTerm 20230712-072601-f4abf8fd${ST}`],
  ['a capability', `${ESC}P1+r544e=787465726d${ST}`],
  ['a capability that is not there', `${ESC}P0+r524742${ST}`],
  ['several capabilities', `${ESC}P1+r436f=323536;524742=38${ST}`],
  ['several answers at once', `${ESC}[?62c${ESC}[1;1R${ESC}]11;rgb:0/0/0${ST}${ESC}P>|XTerm(390)${ST}`],
]

const others: [what: string, text: string][] = [
  ['nothing', ''],
  ['a letter', 'a'],
  ['a command', 'rm -rf ~\r'],
  ['Enter', '\r'],
  ['a line feed', '\n'],
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
  ['Escape', ESC],
  ['an arrow', `${ESC}[A`],
  ['an arrow of an application', `${ESC}OA`],
  ['a function key', `${ESC}[15~`],
  ['a key of the newer kind', `${ESC}[97;5u`],
  ['Alt and a letter', `${ESC}x`],
  ['a pasted text', `${ESC}[200~ls${ESC}[201~`],
  ['the beginning of a paste', `${ESC}[200~`],
  ['the focus coming', `${ESC}[I`],
  ['the focus going', `${ESC}[O`],
  ['a click', `${ESC}[<0;10;10M`],
  ['the end of a click', `${ESC}[<0;10;10m`],
  ['a click of the older kind', `${ESC}[M !!`],
  ['a clipboard', `${ESC}]52;c;cm0gLXJmIH4K${ST}`],
  ['a clipboard, ended by a bell', `${ESC}]52;c;cm0=${BEL}`],
  ['a title', `${ESC}]0;title${BEL}`],
  ['the report of a title', `${ESC}]ltitle${ST}`],
  ['another colour', `${ESC}]13;rgb:0/0/0${ST}`],
  ['a colour by its name', `${ESC}]10;red${ST}`],
  ['the question for a colour', `${ESC}]10;?${ST}`],
  ['the size of the window', `${ESC}[8;24;80t`],
  ['the state of a mode', `${ESC}[?2004;1$y`],
  ['that all is well', `${ESC}[0n`],
  ['the question for the cursor', `${ESC}[6n`],
  ['device attributes without a sign', `${ESC}[1;2c`],
  ['device attributes without a number', `${ESC}[?c`],
  ['the question for device attributes', `${ESC}[c`],
  ['a cursor without a place', `${ESC}[R`],
  ['a cursor with one number', `${ESC}[5R`],
  ['half of an answer', `${ESC}[?62;`],
  ['an answer without its end', `${ESC}]11;rgb:0/0/0`],
  ['an answer and a letter', `${ESC}[24;80Ra`],
  ['a letter and an answer', `a${ESC}[24;80R`],
  ['an answer and Enter', `${ESC}[24;80R\r`],
  ['an answer, a command, an answer', `${ESC}[1;1Rls\r${ESC}[1;1R`],
  ['a command in the place of a version', `${ESC}P>|$(reboot)${ST}`],
  ['a command line in the place of a version', `${ESC}P>|x; reboot${ST}`],
  ['a line end in a version', `${ESC}P>|x\rreboot${ST}`],
  ['a version that is too long', `${ESC}P>|${'x'.repeat(65)}${ST}`],
  ['a capability in plain words', `${ESC}P1+rreboot${ST}`],
  ['the state of a setting', `${ESC}P1$r0m${ST}`],
  ['a name of the terminal that is none', `${ESC}P!|reboot${ST}`],
  ['answers without end', `${ESC}[1;1R`.repeat(1000)],
  ['a character beyond ASCII', 'ü'],
  ['an answer in the eight-bit form', '\x9b1;1R'],
]

test.each(replies)('%s passes', (_what, text) => {
  expect(isTerminalReplies(Buffer.from(text))).toBe(true)
})

test.each(others)('%s does not pass', (_what, text) => {
  expect(isTerminalReplies(Buffer.from(text))).toBe(false)
})

test('what begins as an answer, again and again, and is none, is judged at once', () => {
  const hostile = Buffer.from(`${ESC}]4${';1;rgb:0/0/0'.repeat(300)}`)
  const begun = performance.now()
  expect(isTerminalReplies(hostile)).toBe(false)
  expect(performance.now() - begun).toBeLessThan(100)
})
