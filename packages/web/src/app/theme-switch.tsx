import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { MonitorIcon, MoonIcon, SunIcon } from '../ui/icons.tsx'
import classes from './theme-switch.module.css'

const choices: readonly { value: MantineColorScheme; name: string; Icon: typeof SunIcon }[] = [
  { value: 'light', name: 'Light', Icon: SunIcon },
  { value: 'dark', name: 'Dark', Icon: MoonIcon },
  { value: 'auto', name: 'System', Icon: MonitorIcon },
]

/** Plain radio buttons laid over their icons: a pointer, a keyboard and a screen reader meet the same control. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <fieldset className={classes.switch} aria-label="Theme">
      {choices.map(({ value, name, Icon }) => (
        <label key={value} className={classes.choice} title={name}>
          <input
            type="radio"
            name="theme"
            className={classes.input}
            aria-label={name}
            checked={value === colorScheme}
            onChange={() => setColorScheme(value)}
          />
          <Icon />
        </label>
      ))}
    </fieldset>
  )
}
