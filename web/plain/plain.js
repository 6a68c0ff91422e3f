// Says what the server says of its data: that they are simulated, for example.
const answer = await fetch('page.json')
const { notice } = await answer.json()
if (notice) {
  const p = document.getElementById('notice')
  p.textContent = notice
  p.hidden = false
}
