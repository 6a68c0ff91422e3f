// Shows the notice of the server, for example that the data are simulated.
const answer = await fetch('page.json')
const { notice } = await answer.json()
if (notice) {
  const p = document.getElementById('notice')
  p.textContent = notice
  p.hidden = false
}
