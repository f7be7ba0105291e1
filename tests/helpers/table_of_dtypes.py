"""The dtypes of results: calls with equal results, and then the results for each dtype, and for pairs of dtypes.

"b1" is bool, "-" an error; a pair is the dtype of the first tensor, and that of all others. Calls are those of
`tests.helpers.dtypes_of_results`, which generates this file; review it against NumPy's rules when it changes.
"""

TABLE = """
sequence_roll
sequence_repeat
sequence_unflatten
rows_to_level
sequence_chunk
lookup_table
sequence_expand
sequence_reverse
gather_sequences
sequence_slice
gather_nested
slice_along
pick_along
select_by_mask
take_nested
take_of_each
stop_gradient
sequence_shift
sliding_window
numpy_call
sequence_unpad
insert_level
drop_level
by_position
rows
index_values
refuse_empty
reorder_by_rank
shrink_memory
sequence_unique
sequence_mode
repeat_runs
sequence_sort
checked
sequence_reshape
lod_reset
lod_append
tensor_array_write
tensor_array_unstack
transpose_rows
reshape_rows
reshape
sequence_pool first
sequence_pool last
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
dot_attention
    ?:f8,f8 u1:f8,f8 i1:f8,f8 u2:f8,f8 i2:f8,f8 u4:f8,f8 i4:f8,f8 u8:f8,f8 i8:f8,f8 f2:f4,f4 f4:f4,f4 f8:f8,f8 F:-
    D:- U3:- M8:-
    f4/f8:f8,f8 f8/f4:f8,f8 f2/f4:f4,f4 f4/f2:f4,f4 f4/i8:f8,f8 i8/f4:f8,f8 i4/u4:f8,f8 u8/i8:f8,f8 ?/f2:f4,f4
    i2/?:f8,f8 F/f8:- f4/D:-
beam_search
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:i8,f4,i4 f8:i8,f8,i4 F:- D:- U3:- M8:-
    f4/f8:i8,f8,i4 f8/f4:i8,f4,i4 f2/f4:i8,f4,i4 f4/f2:- f4/i8:- i8/f4:i8,f4,i4 i4/u4:- u8/i8:- ?/f2:- i2/?:- F/f8:-
    f4/D:-
beam_search_decode
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:i8,f4 f8:i8,f8 F:- D:- U3:- M8:-
sequence_pairs
split_by_mask
    ?:b1,b1 u1:u1,u1 i1:i1,i1 u2:u2,u2 i2:i2,i2 u4:u4,u4 i4:i4,i4 u8:u8,u8 i8:i8,i8 f2:f2,f2 f4:f4,f4 f8:f8,f8
    F:c8,c8 D:c16,c16 U3:U3,U3 M8:M8,M8
cartesian
    ?:b1,b1 u1:u1,u1 i1:i1,i1 u2:u2,u2 i2:i2,i2 u4:u4,u4 i4:i4,i4 u8:u8,u8 i8:i8,i8 f2:f2,f2 f4:f4,f4 f8:f8,f8
    F:c8,c8 D:c16,c16 U3:U3,U3 M8:M8,M8
    f4/f8:f4,f8 f8/f4:f8,f4 f2/f4:f2,f4 f4/f2:f4,f2 f4/i8:f4,i8 i8/f4:i8,f4 i4/u4:i4,u4 u8/i8:u8,i8 ?/f2:b1,f2
    i2/?:i2,b1 F/f8:c8,f8 f4/D:f4,c16
combination_places
lod_lengths
num_rows
structure_of
lod_num
lod_positions
lod_segment_ids
sequence_argsort
lod_rank_table
sequence_n_unique
sample_places
reduce_values argmax
reduce_values argmin
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:i8 M8:i8
interleave_places
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:i8 M8:i8
    f4/f8:i8 f8/f4:i8 f2/f4:i8 f4/f2:i8 f4/i8:i8 i8/f4:i8 i4/u4:i8 u8/i8:i8 ?/f2:i8 i2/?:i8 F/f8:i8 f4/D:i8
less_than
less_equal_than
greater_than
greater_equal_than
equal
not_equal
logical_not
    ?:b1 u1:b1 i1:b1 u2:b1 i2:b1 u4:b1 i4:b1 u8:b1 i8:b1 f2:b1 f4:b1 f8:b1 F:b1 D:b1 U3:- M8:-
logical_and
logical_or
    ?:b1 u1:b1 i1:b1 u2:b1 i2:b1 u4:b1 i4:b1 u8:b1 i8:b1 f2:b1 f4:b1 f8:b1 F:b1 D:b1 U3:b1 M8:b1
    f4/f8:b1 f8/f4:b1 f2/f4:b1 f4/f2:b1 f4/i8:b1 i8/f4:b1 i4/u4:b1 u8/i8:b1 ?/f2:b1 i2/?:b1 F/f8:b1 f4/D:b1
sequence_var
sequence_std
sequence_moving_average
sequence_rolling
sequence_softmax
sequence_logsumexp
sequence_rolling sum
sequence_rolling mean
sequence_rolling max
sequence_rolling min
sequence_rolling var
sequence_rolling std
sequence_rolling median
sequence_moving_average adjusted
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
dropout
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
embedding_bag
sequence_pool
pool_positions
reduce_values
sequence_cumsum
sequence_pool sum
pool_positions sum
sequence_accumulate add
sequence_accumulate multiply
reduce_values sum
reduce_values prod
    ?:i8 u1:u8 i1:i8 u2:u8 i2:i8 u4:u8 i4:i8 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
with_values
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f8 f8/f4:f4 f2/f4:f4 f4/f2:f2 f4/i8:i8 i8/f4:f4 i4/u4:u4 u8/i8:i8 ?/f2:f2 i2/?:b1 F/f8:f8 f4/D:c16
sequence_expand_as
sequence_rank
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:f8 D:f8 U3:f8 M8:f8
concat_batches
sequence_concat
merge_by_mask
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:- f8/f4:- f2/f4:- f4/f2:- f4/i8:- i8/f4:- i4/u4:- u8/i8:- ?/f2:- i2/?:- F/f8:- f4/D:-
group_rows
    ?:b1,i8 u1:u1,i8 i1:i1,i8 u2:u2,i8 i2:i2,i8 u4:u4,i8 i4:i4,i8 u8:u8,i8 i8:i8,i8 f2:f2,i8 f4:f4,i8 f8:f8,i8 F:-
    D:- U3:U3,i8 M8:M8,i8
match_keys
    ?:b1,i8,i8 u1:u1,i8,i8 i1:i1,i8,i8 u2:u2,i8,i8 i2:i2,i8,i8 u4:u4,i8,i8 i4:i4,i8,i8 u8:u8,i8,i8 i8:i8,i8,i8
    f2:f2,i8,i8 f4:f4,i8,i8 f8:f8,i8,i8 F:- D:- U3:U3,i8,i8 M8:M8,i8,i8
    f4/f8:f8,i8,i8 f8/f4:f8,i8,i8 f2/f4:f4,i8,i8 f4/f2:f4,i8,i8 f4/i8:f8,i8,i8 i8/f4:f8,i8,i8 i4/u4:i8,i8,i8 u8/i8:-
    ?/f2:f2,i8,i8 i2/?:i2,i8,i8 F/f8:- f4/D:-
linear
layer_norm
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f4 f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f4 i2/?:f8 F/f8:- f4/D:-
add
minus
mul
div
where
sequence_pool mean
sequence_pool sqrt
pool_positions mean
reduce_values mean
embedding_bag mean
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
sigmoid
cross_entropy
sequence_accumulate hypot
elementwise cbrt
elementwise deg2rad
elementwise degrees
elementwise fabs
elementwise rad2deg
elementwise radians
    ?:f2 u1:f2 i1:f2 u2:f4 i2:f4 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
tanh
exp
log
sqrt
softmax
log_softmax
elementwise arccos
elementwise arccosh
elementwise arcsin
elementwise arcsinh
elementwise arctan
elementwise arctanh
elementwise cos
elementwise cosh
elementwise exp
elementwise exp2
elementwise expm1
elementwise log
elementwise log10
elementwise log1p
elementwise log2
elementwise rint
elementwise sin
elementwise sinh
elementwise sqrt
elementwise tan
elementwise tanh
    ?:f2 u1:f2 i1:f2 u2:f4 i2:f4 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
relu
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
elementwise
elementwise fmax
elementwise fmin
elementwise maximum
elementwise minimum
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:M8
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
cast
cast f4
full_like f4
    ?:f4 u1:f4 i1:f4 u2:f4 i2:f4 u4:f4 i4:f4 u8:f4 i8:f4 f2:f4 f4:f4 f8:f4 F:f4 D:f4 U3:f4 M8:f4
full_like
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:-
sequence_matmul
matmul
elementwise multiply
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
fill_nan
sequence_pool max
sequence_pool min
pool_positions max
pool_positions min
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
sequence_diff
sequence_diff twice
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:m8
sequence_accumulate
sequence_accumulate minimum
reduce_values max
reduce_values min
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:M8
sequence_pad
run_lengths
sequence_topk
    ?:b1,i8 u1:u1,i8 i1:i1,i8 u2:u2,i8 i2:i2,i8 u4:u4,i8 i4:i4,i8 u8:u8,i8 i8:i8,i8 f2:f2,i8 f4:f4,i8 f8:f8,i8
    F:c8,i8 D:c16,i8 U3:U3,i8 M8:M8,i8
concat_values
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
sequence_prod
    ?:i8 u1:u8 i1:i8 u2:u8 i2:i8 u4:u8 i4:i8 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
sequence_truth
sequence_truth all
    ?:b1 u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:- f8:- F:- D:- U3:- M8:-
sequence_place
sequence_place argmin
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:- D:- U3:- M8:-
sequence_quantile
sequence_quantile linear
sequence_quantile midpoint
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:M8
arange
    ?:- u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:f8 f4:f8 f8:f8 F:- D:- U3:- M8:-
dynamic_lstm
gru_layer
simple_layer
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4,f4 f8:f8,f8 F:- D:- U3:- M8:-
    f4/f8:f8,f8 f8/f4:f8,f8 f2/f4:f4,f4 f4/f2:f4,f4 f4/i8:f8,f8 i8/f4:f8,f8 i4/u4:- u8/i8:f8,f8 ?/f2:- i2/?:- F/f8:-
    f4/D:-
dynamic_gru
sequence_conv
row_conv
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:- u8/i8:f8 ?/f2:- i2/?:- F/f8:- f4/D:-
lstm_layer
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4,f4,f4 f8:f8,f8,f8 F:- D:- U3:- M8:-
    f4/f8:f8,f8,f8 f8/f4:f8,f8,f8 f2/f4:f4,f4,f4 f4/f2:f4,f4,f4 f4/i8:f8,f8,f8 i8/f4:f8,f8,f8 i4/u4:- u8/i8:f8,f8,f8
    ?/f2:- i2/?:- F/f8:- f4/D:-
sequence_unique_all
    ?:b1,i8,i8,i8 u1:u1,i8,i8,i8 i1:i1,i8,i8,i8 u2:u2,i8,i8,i8 i2:i2,i8,i8,i8 u4:u4,i8,i8,i8 i4:i4,i8,i8,i8
    u8:u8,i8,i8,i8 i8:i8,i8,i8,i8 f2:f2,i8,i8,i8 f4:f4,i8,i8,i8 f8:f8,i8,i8,i8 F:c8,i8,i8,i8 D:c16,i8,i8,i8
    U3:U3,i8,i8,i8 M8:M8,i8,i8,i8
sequence_searchsorted
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:i8 M8:i8
    f4/f8:i8 f8/f4:i8 f2/f4:i8 f4/f2:i8 f4/i8:i8 i8/f4:i8 i4/u4:i8 u8/i8:i8 ?/f2:i8 i2/?:i8 F/f8:- f4/D:-
sequence_interp
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f8 f4/f2:f8 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f8 i2/?:f8 F/f8:- f4/D:-
last_of_steps
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:- f8:f8 F:- D:- U3:- M8:-
tensor_array_unpack
    ?:b1,i4 u1:u1,i4 i1:i1,i4 u2:u2,i4 i2:i2,i4 u4:u4,i4 i4:i4,i4 u8:u8,i4 i8:i8,i4 f2:f2,i4 f4:f4,i4 f8:f8,i4
    F:c8,i4 D:c16,i4 U3:U3,i4 M8:M8,i4
sequence_enumerate
sequence_erase
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:- f8:- F:- D:- U3:- M8:-
sequence_scatter
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:- i2/?:i2 F/f8:- f4/D:-
argwhere
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:- M8:-
sequence_bitwise
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:- f8:- F:- D:- U3:- M8:-
spread
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f4 f8/f4:f8 f2/f4:f2 f4/f2:f4 f4/i8:f4 i8/f4:i8 i4/u4:i4 u8/i8:u8 ?/f2:b1 i2/?:i2 F/f8:c8 f4/D:f4
sequence_quantile lower
sequence_quantile inverted_cdf
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:M8
reduce_values any
reduce_values all
    ?:b1 u1:b1 i1:b1 u2:b1 i2:b1 u4:b1 i4:b1 u8:b1 i8:b1 f2:b1 f4:b1 f8:b1 F:b1 D:b1 U3:b1 M8:b1
elementwise absolute
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:f4 D:f8 U3:- M8:-
elementwise add
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U6 M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
elementwise arctan2
elementwise copysign
elementwise heaviside
elementwise hypot
elementwise logaddexp
elementwise logaddexp2
    ?:f2 u1:f2 i1:f2 u2:f4 i2:f4 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f2 i2/?:f4 F/f8:- f4/D:-
elementwise conjugate
elementwise reciprocal
elementwise square
    ?:i1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
elementwise divide
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f2 i2/?:f8 F/f8:c16 f4/D:c16
elementwise float_power
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:c16 D:c16 U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f8 f4/f2:f8 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f8 i2/?:f8 F/f8:c16 f4/D:c16
elementwise floor_divide
elementwise fmod
elementwise remainder
    ?:i1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:- f4/D:-
elementwise negative
elementwise positive
elementwise sign
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
elementwise power
    ?:i1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
elementwise subtract
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:m8
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
"""
