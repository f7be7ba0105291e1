"""What dtypes operators give: calls that give the same, and then what comes of each dtype, and of pairs of dtypes.

"b1" is bool, "-" an error; a pair is the dtype of the first tensor, and that of all others. Calls are those of
`tests.helpers.dtypes_of_results`, which writes this; read it against NumPy's rules when it changes.
"""

TABLE = """
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
sequence_softmax
sequence_logsumexp
sequence_var
sequence_std
sequence_moving_average
sequence_rolling
sequence_quantile
sequence_rolling sum
sequence_rolling mean
sequence_rolling max
sequence_rolling min
sequence_rolling var
sequence_rolling std
sequence_quantile linear
sequence_quantile midpoint
sequence_moving_average adjusted
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
sequence_cumsum
embedding_bag
pool_positions
reduce_values
sequence_pool
sequence_pool sum
pool_positions sum
sequence_accumulate add
sequence_accumulate multiply
reduce_values sum
reduce_values prod
    ?:i8 u1:u8 i1:i8 u2:u8 i2:i8 u4:u8 i4:i8 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
sequence_sort
sequence_unique
sequence_mode
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:U3 M8:M8
sequence_argsort
sequence_n_unique
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:- D:- U3:i8 M8:i8
sequence_unique_all
    ?:b1,i8,i8,i8 u1:u1,i8,i8,i8 i1:i1,i8,i8,i8 u2:u2,i8,i8,i8 i2:i2,i8,i8,i8 u4:u4,i8,i8,i8 i4:i4,i8,i8,i8
    u8:u8,i8,i8,i8 i8:i8,i8,i8,i8 f2:f2,i8,i8,i8 f4:f4,i8,i8,i8 f8:f8,i8,i8,i8 F:- D:- U3:U3,i8,i8,i8 M8:M8,i8,i8,i8
sequence_rank
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:- D:- U3:f8 M8:f8
run_lengths
sequence_pad
    ?:b1,i8 u1:u1,i8 i1:i1,i8 u2:u2,i8 i2:i2,i8 u4:u4,i8 i4:i4,i8 u8:u8,i8 i8:i8,i8 f2:f2,i8 f4:f4,i8 f8:f8,i8
    F:c8,i8 D:c16,i8 U3:U3,i8 M8:M8,i8
sequence_diff
sequence_diff twice
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:m8
sequence_shift
sliding_window
repeat_runs
sequence_reverse
by_position
drop_level
rows
gather_nested
gather_sequences
index_values
insert_level
lod_append
lod_reset
lookup_table
pick_along
refuse_empty
reshape_rows
rows_to_level
sequence_chunk
sequence_repeat
sequence_roll
sequence_unflatten
transpose_rows
reorder_by_rank
select_by_mask
sequence_expand
sequence_reshape
sequence_slice
sequence_unpad
shrink_memory
slice_along
take_nested
take_of_each
tensor_array_unstack
tensor_array_write
sequence_pool first
sequence_pool last
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
fill_nan
sequence_pool max
sequence_pool min
pool_positions max
pool_positions min
sequence_quantile lower
sequence_quantile inverted_cdf
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
sequence_searchsorted
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:- D:- U3:i8 M8:i8
    f4/f8:i8 f8/f4:i8 f2/f4:i8 f4/f2:i8 f4/i8:i8 i8/f4:i8 i4/u4:i8 u8/i8:i8 ?/f2:i8 i2/?:i8 F/f8:- f4/D:-
sequence_interp
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f8 f4/f2:f8 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f8 i2/?:f8 F/f8:- f4/D:-
sequence_accumulate
sequence_accumulate minimum
reduce_values max
reduce_values min
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:M8
sequence_prod
    ?:i8 u1:u8 i1:i8 u2:u8 i2:i8 u4:u8 i4:i8 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
logical_not
less_than
less_equal_than
greater_than
greater_equal_than
equal
not_equal
    ?:b1 u1:b1 i1:b1 u2:b1 i2:b1 u4:b1 i4:b1 u8:b1 i8:b1 f2:b1 f4:b1 f8:b1 F:b1 D:b1 U3:- M8:-
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
logical_and
logical_or
    ?:b1 u1:b1 i1:b1 u2:b1 i2:b1 u4:b1 i4:b1 u8:b1 i8:b1 f2:b1 f4:b1 f8:b1 F:b1 D:b1 U3:b1 M8:b1
    f4/f8:b1 f8/f4:b1 f2/f4:b1 f4/f2:b1 f4/i8:b1 i8/f4:b1 i4/u4:b1 u8/i8:b1 ?/f2:b1 i2/?:b1 F/f8:b1 f4/D:b1
concat_batches
sequence_concat
merge_by_mask
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:- f8/f4:- f2/f4:- f4/f2:- f4/i8:- i8/f4:- i4/u4:- u8/i8:- ?/f2:- i2/?:- F/f8:- f4/D:-
lod_num
lod_positions
lod_segment_ids
combination_places
lod_lengths
lod_rank_table
structure_of
sample_places
reduce_values argmax
reduce_values argmin
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:i8 M8:i8
sequence_pairs
split_by_mask
    ?:b1,b1 u1:u1,u1 i1:i1,i1 u2:u2,u2 i2:i2,i2 u4:u4,u4 i4:i4,i4 u8:u8,u8 i8:i8,i8 f2:f2,f2 f4:f4,f4 f8:f8,f8
    F:c8,c8 D:c16,c16 U3:U3,U3 M8:M8,M8
arange
    ?:- u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:f8 f4:f8 f8:f8 F:- D:- U3:- M8:-
argwhere
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:- M8:-
cartesian
    ?:b1,b1 u1:u1,u1 i1:i1,i1 u2:u2,u2 i2:i2,i2 u4:u4,u4 i4:i4,i4 u8:u8,u8 i8:i8,i8 f2:f2,f2 f4:f4,f4 f8:f8,f8
    F:c8,c8 D:c16,c16 U3:U3,U3 M8:M8,M8
    f4/f8:f4,f8 f8/f4:f8,f4 f2/f4:f2,f4 f4/f2:f4,f2 f4/i8:f4,i8 i8/f4:i8,f4 i4/u4:i4,u4 u8/i8:u8,i8 ?/f2:b1,f2
    i2/?:i2,b1 F/f8:c8,f8 f4/D:f4,c16
beam_search
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:i8,f4,i4 f8:i8,f8,i4 F:- D:- U3:- M8:-
    f4/f8:i8,f8,i4 f8/f4:i8,f4,i4 f2/f4:i8,f4,i4 f4/f2:- f4/i8:- i8/f4:i8,f4,i4 i4/u4:- u8/i8:- ?/f2:- i2/?:- F/f8:-
    f4/D:-
beam_search_decode
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:i8,f4 f8:i8,f8 F:- D:- U3:- M8:-
cast
cast f4
full_like f4
    ?:f4 u1:f4 i1:f4 u2:f4 i2:f4 u4:f4 i4:f4 u8:f4 i8:f4 f2:f4 f4:f4 f8:f4 F:f4 D:f4 U3:f4 M8:f4
concat_values
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
dot_attention
    ?:f8,f8 u1:f8,f8 i1:f8,f8 u2:f8,f8 i2:f8,f8 u4:f8,f8 i4:f8,f8 u8:f8,f8 i8:f8,f8 f2:f4,f4 f4:f4,f4 f8:f8,f8 F:-
    D:- U3:- M8:-
    f4/f8:f8,f8 f8/f4:f8,f8 f2/f4:f4,f4 f4/f2:f4,f4 f4/i8:f8,f8 i8/f4:f8,f8 i4/u4:f8,f8 u8/i8:f8,f8 ?/f2:f4,f4
    i2/?:f8,f8 F/f8:- f4/D:-
dropout
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:f2 f4:f4 f8:f8 F:- D:- U3:- M8:-
dynamic_gru
row_conv
sequence_conv
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:- u8/i8:f8 ?/f2:- i2/?:- F/f8:- f4/D:-
dynamic_lstm
gru_layer
simple_layer
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4,f4 f8:f8,f8 F:- D:- U3:- M8:-
    f4/f8:f8,f8 f8/f4:f8,f8 f2/f4:f4,f4 f4/f2:f4,f4 f4/i8:f8,f8 i8/f4:f8,f8 i4/u4:- u8/i8:f8,f8 ?/f2:- i2/?:- F/f8:-
    f4/D:-
elementwise
elementwise fmax
elementwise fmin
elementwise maximum
elementwise minimum
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:M8
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
full_like
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:-
group_rows
    ?:b1,i8 u1:u1,i8 i1:i1,i8 u2:u2,i8 i2:i2,i8 u4:u4,i8 i4:i4,i8 u8:u8,i8 i8:i8,i8 f2:f2,i8 f4:f4,i8 f8:f8,i8 F:-
    D:- U3:U3,i8 M8:M8,i8
interleave_places
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:i8 D:i8 U3:i8 M8:i8
    f4/f8:i8 f8/f4:i8 f2/f4:i8 f4/f2:i8 f4/i8:i8 i8/f4:i8 i4/u4:i8 u8/i8:i8 ?/f2:i8 i2/?:i8 F/f8:i8 f4/D:i8
last_of_steps
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:- f8:f8 F:- D:- U3:- M8:-
layer_norm
linear
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f4 f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:f8 u8/i8:f8 ?/f2:f4 i2/?:f8 F/f8:- f4/D:-
lstm_layer
    ?:- u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:f4,f4,f4 f8:f8,f8,f8 F:- D:- U3:- M8:-
    f4/f8:f8,f8,f8 f8/f4:f8,f8,f8 f2/f4:f4,f4,f4 f4/f2:f4,f4,f4 f4/i8:f8,f8,f8 i8/f4:f8,f8,f8 i4/u4:- u8/i8:f8,f8,f8
    ?/f2:- i2/?:- F/f8:- f4/D:-
match_keys
    ?:b1,i8,i8 u1:u1,i8,i8 i1:i1,i8,i8 u2:u2,i8,i8 i2:i2,i8,i8 u4:u4,i8,i8 i4:i4,i8,i8 u8:u8,i8,i8 i8:i8,i8,i8
    f2:f2,i8,i8 f4:f4,i8,i8 f8:f8,i8,i8 F:- D:- U3:U3,i8,i8 M8:M8,i8,i8
    f4/f8:f8,i8,i8 f8/f4:f8,i8,i8 f2/f4:f4,i8,i8 f4/f2:f4,i8,i8 f4/i8:f8,i8,i8 i8/f4:f8,i8,i8 i4/u4:i8,i8,i8 u8/i8:-
    ?/f2:f2,i8,i8 i2/?:i2,i8,i8 F/f8:- f4/D:-
matmul
sequence_matmul
elementwise multiply
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:f2 i2/?:i2 F/f8:c16 f4/D:c16
sequence_bitwise
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:- f8:- F:- D:- U3:- M8:-
spread
refuse_unlike
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f4 f8/f4:f8 f2/f4:f2 f4/f2:f4 f4/i8:f4 i8/f4:i8 i4/u4:i4 u8/i8:u8 ?/f2:b1 i2/?:i2 F/f8:c8 f4/D:f4
sequence_enumerate
sequence_erase
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:- f8:- F:- D:- U3:- M8:-
sequence_expand_as
    ?:f8 u1:f8 i1:f8 u2:f8 i2:f8 u4:f8 i4:f8 u8:f8 i8:f8 f2:f8 f4:f8 f8:f8 F:f8 D:f8 U3:f8 M8:f8
sequence_place
sequence_place argmin
    ?:i8 u1:i8 i1:i8 u2:i8 i2:i8 u4:i8 i4:i8 u8:i8 i8:i8 f2:i8 f4:i8 f8:i8 F:- D:- U3:- M8:-
sequence_scatter
    ?:- u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:- f4:f4 f8:f8 F:- D:- U3:- M8:-
    f4/f8:f8 f8/f4:f8 f2/f4:f4 f4/f2:f4 f4/i8:f8 i8/f4:f8 i4/u4:i8 u8/i8:f8 ?/f2:- i2/?:i2 F/f8:- f4/D:-
sequence_topk
    ?:b1,i8 u1:u1,i8 i1:i1,i8 u2:u2,i8 i2:i2,i8 u4:u4,i8 i4:i4,i8 u8:u8,i8 i8:i8,i8 f2:f2,i8 f4:f4,i8 f8:f8,i8 F:-
    D:- U3:- M8:-
sequence_truth
sequence_truth all
    ?:b1 u1:- i1:- u2:- i2:- u4:- i4:- u8:- i8:- f2:- f4:- f8:- F:- D:- U3:- M8:-
tensor_array_unpack
    ?:b1,i4 u1:u1,i4 i1:i1,i4 u2:u2,i4 i2:i2,i4 u4:u4,i4 i4:i4,i4 u8:u8,i4 i8:i8,i4 f2:f2,i4 f4:f4,i4 f8:f8,i4
    F:c8,i4 D:c16,i4 U3:U3,i4 M8:M8,i4
with_values
    ?:b1 u1:u1 i1:i1 u2:u2 i2:i2 u4:u4 i4:i4 u8:u8 i8:i8 f2:f2 f4:f4 f8:f8 F:c8 D:c16 U3:U3 M8:M8
    f4/f8:f8 f8/f4:f4 f2/f4:f4 f4/f2:f2 f4/i8:i8 i8/f4:f4 i4/u4:u4 u8/i8:i8 ?/f2:f2 i2/?:b1 F/f8:f8 f4/D:c16
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
