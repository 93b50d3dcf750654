import './app/without-code-generation.ts'
import '@mantine/core/styles.layer.css'
import './app/theme.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { allowOnlyPlainText } from './app/trusted-types.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id "root"')

allowOnlyPlainText()
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
