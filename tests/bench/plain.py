"""The same picture as Streamlit makes it out of the box: st.slider and a Plotly heatmap. The benchmark's yardstick."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch

temperature = st.slider("Temperature", 0.1, 10.0, 1.0, 0.1)
q, k = torch.randn(2, 14, 48, generator=torch.Generator().manual_seed(0))
scores = (q @ k.T / 48**0.5).masked_fill(~torch.ones(14, 14).tril().bool(), -torch.inf)
weights = (scores / temperature).softmax(-1).numpy()
figure = go.Figure(go.Heatmap(z=weights, zmin=0, zmax=1, text=np.round(weights, 2), texttemplate="%{text}"))
st.plotly_chart(figure.update_yaxes(autorange="reversed"))
